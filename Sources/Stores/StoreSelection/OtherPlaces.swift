package import LatchkeyCredentials
internal import LatchkeyLog

/// A credential that is in another store as well.
package struct OtherPlace: Sendable {
    package let store: any CredentialStore
    /// Whether both hold the same secret.
    package let isSame: Bool
}

/// The other stores, as far as they can be searched quickly and without a question.
///
/// The search skips a store that needs a question or doesn't respond within a tenth of the timeout, and logs the
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
    /// The secrets are read as `ItemContent`: a session contains its account's name, and messages with a password of this
    /// process in them are withheld.
    ///
    /// Throws `cancelled` alone.
    package func places(
        of key: CredentialKey, beside store: any CredentialStore, among others: [any CredentialStore],
        settings: StoreSettings
    ) async throws(StoreError) -> [OtherPlace] {
        try await ask(others, settings) { (other, deadline) throws(StoreError) in
            guard let record = try await other.read(key, as: ItemContent.self, deadline: deadline) else { return nil }
            if try await ServedVault.hasSame(key, in: store, and: other, deadline: deadline) { return nil }
            var isSame = false
            if let own = try await store.read(key, as: ItemContent.self, deadline: deadline) {
                isSame = own.secret.matches(record.secret)
            }
            return OtherPlace(store: other, isSame: isSame)
        }
    }

    /// Returns which of the other stores have secrets of a service.
    ///
    /// Throws `cancelled` alone.
    package func stores(
        of service: String, among others: [any CredentialStore], settings: StoreSettings
    ) async throws(StoreError) -> [any CredentialStore] {
        try await ask(others, settings) { (other, deadline) throws(StoreError) in
            var entries = other.list(service: service, deadline: deadline).makeAsyncIterator()
            while let entry = try await entries.next() {
                if entry.key.kind == .password { return other }
            }
            return nil
        }
    }

    private func ask<Answer>(
        _ others: [any CredentialStore], _ settings: StoreSettings,
        _ question: (any CredentialStore, Deadline) async throws(StoreError) -> Answer?
    ) async throws(StoreError) -> [Answer] {
        var answers: [Answer] = []
        for other in others {
            do throws(StoreError) {
                if let answer = try await question(other, .after(settings.timeoutBeside)) { answers.append(answer) }
            } catch {
                try passOver("\(other.identity)", error)
            }
        }
        return answers
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
