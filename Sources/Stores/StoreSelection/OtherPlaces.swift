package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

/// A credential that is in another store as well.
package struct OtherPlace: Sendable {
    package let store: any CredentialStore
    /// Whether both hold the same secret.
    package let isSame: Bool
}

/// The other stores, as far as they can be searched quickly and without a question.
///
/// A store that can't be searched so, or doesn't respond within a tenth of the timeout, is skipped, and the log has the
/// reason: the command has already done its work and must not fail because of another store.
extension StoreSelector {
    /// Opens the other stores. It opens nothing where there is certainly no other one.
    ///
    /// Throws `cancelled` alone.
    package func openBeside(
        _ store: any CredentialStore, settings: StoreSettings
    ) async throws(StoreError) -> [any CredentialStore] {
        var settings = settings
        settings.timeout = settings.timeoutBeside
        var others: [any CredentialStore] = []
        for backend in catalogue.backends
        where backend.isPersistent && backend.name.description != store.identity.backend && backend.exists(settings) {
            do throws(StoreError) {
                guard let other = try await backend.openBeside(settings) else { continue }
                if other.identity != store.identity { others.append(other) }
            } catch {
                try passOver("\(backend.name)", error)
            }
        }
        return others
    }

    /// Returns where else a credential is that `store` holds.
    ///
    /// Throws `cancelled` alone.
    package func places(
        of key: CredentialKey, beside store: any CredentialStore, among others: [any CredentialStore],
        settings: StoreSettings
    ) async throws(StoreError) -> [OtherPlace] {
        var found: [OtherPlace] = []
        for other in others {
            do throws(StoreError) {
                let deadline = Deadline.after(settings.timeoutBeside)
                guard let record = try await other.read(key, as: Password.self, deadline: deadline) else { continue }
                if try await ServedVault.hasSame(key, in: store, and: other, deadline: deadline) { continue }
                var isSame = false
                if let own = try await store.read(key, as: Password.self, deadline: deadline) {
                    isSame = own.secret.matches(record.secret)
                }
                found.append(OtherPlace(store: other, isSame: isSame))
            } catch {
                try passOver("\(other.identity)", error)
            }
        }
        return found
    }

    private func passOver(_ name: LogMessage, _ error: StoreError) throws(StoreError) {
        if error.code == .cancelled { throw error }
        // An absent store isn't worth a log entry.
        logger.log(error.code == .unavailable ? .debug : .info, "can't search \(name): \(error)")
    }
}

extension StoreSettings {
    /// How long each step in a store beside the one that is used may take.
    fileprivate var timeoutBeside: Duration { timeout / 10 }
}
