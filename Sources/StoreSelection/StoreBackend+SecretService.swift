internal import Credentials
internal import RedactedLog
internal import SecretService
internal import Secrets

extension StoreBackend {
    /// The desktop's keyring. The service is asked, not the library: the library is there without a desktop too.
    static let secretService = StoreBackend(
        name: "secret-service",
        probe: { (settings) throws(StoreError) in try await probeSecretService(settings) },
        open: { (settings) throws(StoreError) in
            SecretServiceStore(
                SecretServiceConfiguration(
                    collection: settings.collection, mayPrompt: settings.mayPrompt,
                    mayCreateCollection: settings.mayCreateCollection, coordination: settings.leases))
        })

    private static func probeSecretService(_ settings: StoreSettings) async throws(StoreError) {
        let store = SecretServiceStore(
            SecretServiceConfiguration(collection: settings.collection, mayPrompt: false, coordination: nil))
        guard let key = try? CredentialKey(service: "latchkey:probe", account: "probe") else { return }
        do throws(StoreError) {
            _ = try await store.read(
                key, as: Password.self, deadline: .after(min(settings.timeout, .seconds(10))))
        } catch  where error.code == .locked && settings.mayPrompt && settings.hasDisplay {
            // It will ask for its password when it is used.
        }
    }
}
