package import LatchkeyCredentials
package import LatchkeyLog

/// Several stores seen as one, for users with a desktop keyring by day and a vault by night.
///
/// A credential is used from the store that contains it; a new one goes to the chosen store, the first. If two stores
/// contain it with different secrets, the operation throws an error that names both. A store that can't be searched is
/// skipped if another store contains the credential; otherwise its error is thrown, because the credential may exist
/// there.
package struct StoreView: Sendable {
    /// The chosen store first.
    package let stores: [any CredentialStore]
    /// The stores that could not even be opened.
    package let refusals: [StoreRefusal]
    private let logger: RedactedLogger

    package init(_ stores: [any CredentialStore], refusals: [StoreRefusal] = [], logger: RedactedLogger = .disabled) {
        precondition(!stores.isEmpty, "a view has at least one store")
        self.stores = stores
        self.refusals = refusals
        self.logger = logger.category("latchkey.selection")
    }

    /// Returns the store that contains a credential, or the chosen one if no store does.
    ///
    /// Throws `ambiguous` if two stores contain different secrets under the key. Throws the error of a store that can't
    /// be searched if no other store contains the credential.
    package func store(for key: CredentialKey, deadline: Deadline) async throws(StoreError) -> any CredentialStore {
        if let only { return only }
        let (found, refusal) = try await places(of: key, deadline: deadline)
        if let first = found.first {
            logger.info("\(key) is stored in \(first.identity)")
            for other in found.dropFirst() {
                guard try await holdSame(key, first, other, deadline) else {
                    throw ambiguous("\(key) has different secrets", found)
                }
                logger.warning("\(key) is also stored in \(other.identity), with the same secret")
            }
            return first
        }
        if let refusal { throw refusal }
        return stores[0]
    }

    /// Returns the store that contains credentials of a service, or the chosen one if no store does.
    ///
    /// Throws `ambiguous` if two stores do. Throws the error of a store that can't be searched if no other store does.
    package func store(
        forService service: String, deadline: Deadline
    ) async throws(StoreError) -> any CredentialStore {
        if let only { return only }
        let (found, refusal) = try await stores(with: shown(service)) { (store) throws(StoreError) in
            var entries = store.list(service: service, deadline: deadline).makeAsyncIterator()
            return try await entries.next() != nil
        }
        if found.count > 1 { throw ambiguous("\(shown(service)) is stored", found) }
        if let first = found.first { return first }
        if let refusal { throw refusal }
        return stores[0]
    }

    /// For a credential that no store returned: throws the error of a store that couldn't be opened, or else `skipped`, the
    /// error of a store that couldn't be searched.
    package func checkAllSearched(_ skipped: StoreError?) throws(StoreError) {
        if let error = refusals.first?.error ?? skipped { throw unasked(error, "the credential") }
    }

    /// Whether a store that fails is one of several.
    package var isOfSeveral: Bool { stores.count + refusals.count > 1 }

    private func shown(_ service: String) -> LogMessage {
        "\(LoggableText(reviewed: "a service name is shown in keyring applications", unredacted: service))"
    }

    /// Returns all stores that contain a credential, and the error of a store that couldn't be searched.
    package func places(
        of key: CredentialKey, deadline: Deadline
    ) async throws(StoreError) -> (found: [any CredentialStore], refusal: StoreError?) {
        try await stores(with: "\(key)") { (store) throws(StoreError) in
            try await store.read(key, as: ItemContent.self, deadline: deadline) != nil
        }
    }

    private func stores(
        with shown: LogMessage, where has: (any CredentialStore) async throws(StoreError) -> Bool
    ) async throws(StoreError) -> (found: [any CredentialStore], refusal: StoreError?) {
        var found: [any CredentialStore] = []
        var refusal = refusals.first.map { unasked($0.error, shown) }
        for store in stores {
            do throws(StoreError) {
                if try await has(store) { found.append(store) }
            } catch {
                if error.endsSearch { throw error }
                logger.info("can't search \(store.identity) for \(shown): \(error)")
                refusal = refusal ?? unasked(error, shown)
            }
        }
        return (found, refusal)
    }

    /// The store of a view with only one store.
    private var only: (any CredentialStore)? { stores.count == 1 && refusals.isEmpty ? stores[0] : nil }

    private func holdSame(
        _ key: CredentialKey, _ one: any CredentialStore, _ other: any CredentialStore, _ deadline: Deadline
    ) async throws(StoreError) -> Bool {
        guard let first = try await one.read(key, as: ItemContent.self, deadline: deadline),
            let second = try await other.read(key, as: ItemContent.self, deadline: deadline)
        else { return true }
        return first.secret.matches(second.secret)
    }

    private func ambiguous(_ what: LogMessage, _ found: [any CredentialStore]) -> StoreError {
        StoreError(
            .ambiguous, "\(what) in \(LogMessage.joined(found.map { "\($0.identity)" }, separator: " and in "))",
            hint: "\(Recovery.chooseStore), or \(Recovery.moveCredentials)")
    }

    private func unasked(_ error: StoreError, _ what: LogMessage) -> StoreError {
        StoreError(
            error.code, "\(what) was not found, but one store couldn't be searched: \(error.cause)",
            hint: error.hint.map { "\($0), or \(Recovery.chooseStore)" } ?? "\(Recovery.chooseStore)",
            platform: error.platform)
    }
}

extension StoreError {
    /// Whether no other store is searched after it.
    package var endsSearch: Bool { code == .cancelled || code == .corrupted }
}
