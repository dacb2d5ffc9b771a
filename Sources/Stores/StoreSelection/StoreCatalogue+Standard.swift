internal import LatchkeyCredentials

extension StoreCatalogue {
    /// Latchkey's own stores, the preferred one first.
    package static let standard = StoreCatalogue([.secretService, .vault, .inMemory])
}

extension StoreBackend {
    /// It forgets everything when the process ends, so it is only here to be refused by name.
    static let inMemory = StoreBackend(
        name: "in-memory", isPersistent: false,
        probe: { (_) throws(StoreError) in },
        open: { (_) throws(StoreError) in try InMemoryStore() })
}
