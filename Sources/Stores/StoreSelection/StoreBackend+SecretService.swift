internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySecretService
internal import LatchkeySystem

extension StoreBackend {
    /// The desktop's keyring. The service is asked, not the library: the library is there without a desktop too.
    static let secretService = StoreBackend(
        name: "secret-service",
        place: StorePlace(
            word: "collection", placeholder: "NAME", variable: "LATCHKEY_COLLECTION",
            help: "the keyring's collection: default, session, a label or a path", noun: "a collection of the keyring"),
        probe: { (settings) throws(StoreError) in try await probeSecretService(settings) },
        open: { (settings) throws(StoreError) in settings.keyring },
        openBeside: { (settings) throws(StoreError) -> (any CredentialStore)? in
            try await SecretServiceStore.presence(deadline: settings.deadline) == .running
                ? settings.askingNobody.keyring : nil
        })

    private static func probeSecretService(_ settings: StoreSettings) async throws(StoreError) {
        try await checkBus(limit: settings.presenceTimeout)
        let store = SecretServiceStore(
            SecretServiceConfiguration(collection: settings.collection, mayPrompt: false, coordination: nil))
        guard let key = try? CredentialKey(service: "latchkey:probe", account: "probe") else { return }
        // A locked one will ask for its password when it is used.
        _ = try await nilIf(
            { (error: StoreError) in error.code == .locked && settings.mayPrompt && settings.hasDisplay },
            awaiting: await store.read(
                key, as: Password.self, deadline: .after(min(settings.timeout, .seconds(10)))))
    }

    /// Throws when no bus can say whether there is a service. That there is none is then the bus's own reply to the
    /// first call, and nothing is waited for.
    private static func checkBus(limit: Duration) async throws(StoreError) {
        _ = try await mapError(
            { (error: StoreError) in
                error.code != .timedOut
                    ? error
                    : StoreError(.timedOut, "the session bus did not respond within \(limit)", hint: error.hint)
            }, awaiting: await SecretServiceStore.presence(deadline: .after(limit)))
    }
}

extension StoreSettings {
    /// How long the bus may take to say whether there is a keyring: a hundredth of the timeout, 300 ms where nobody
    /// sets one. The service itself may take longer: one that is just being started is no reason to take another store.
    var presenceTimeout: Duration { timeout / 100 }

    fileprivate var keyring: SecretServiceStore {
        SecretServiceStore(
            SecretServiceConfiguration(
                collection: collection, mayPrompt: mayPrompt, mayCreateCollection: mayCreateCollection,
                coordination: leases))
    }
}
