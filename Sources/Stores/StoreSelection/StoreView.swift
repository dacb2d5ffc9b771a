package import LatchkeyCredentials
package import LatchkeyLog
internal import LatchkeySecrets

/// Several stores seen as one, where a person has a desktop by day and a vault by night.
///
/// A credential is used where it lives; a new one goes to the chosen store, the first. That it is stored in two places at
/// once is an error which names them, unless both hold the same secret. A store that can't be asked is passed over as
/// long as the others know the credential; otherwise its refusal is thrown, because absence can't be claimed.
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

    /// Returns the store that a credential is stored in, or the chosen one when no store has it.
    ///
    /// Throws `ambiguous` when two stores hold different secrets under the key, and the refusal of a store that can't
    /// be asked when no other one has the credential.
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

    /// Returns the store that has anything of a service, or the chosen one when none has.
    ///
    /// Throws `ambiguous` when two have, and the refusal of a store that can't be asked when no other one has.
    package func store(
        forService service: String, deadline: Deadline
    ) async throws(StoreError) -> any CredentialStore {
        if let only { return only }
        var found: [any CredentialStore] = []
        var refusal = refusals.first.map { unasked($0.error, shown(service)) }
        for store in stores {
            do throws(StoreError) {
                var entries = store.list(service: service, deadline: deadline).makeAsyncIterator()
                if try await entries.next() != nil { found.append(store) }
            } catch {
                if error.code == .cancelled || error.code == .corrupted { throw error }
                logger.info("can't search \(store.identity) for \(shown(service)): \(error)")
                refusal = refusal ?? unasked(error, shown(service))
            }
        }
        if found.count > 1 { throw ambiguous("\(shown(service)) is stored", found) }
        if let first = found.first { return first }
        if let refusal { throw refusal }
        return stores[0]
    }

    private func shown(_ service: String) -> LogMessage {
        "\(LoggableText(reviewed: "a service name is shown in keyring applications", unredacted: service))"
    }

    /// Returns all stores that have a credential, and why one could not be asked.
    package func places(
        of key: CredentialKey, deadline: Deadline
    ) async throws(StoreError) -> (found: [any CredentialStore], refusal: StoreError?) {
        var found: [any CredentialStore] = []
        var refusal = refusals.first.map { unasked($0.error, "\(key)") }
        for store in stores {
            do throws(StoreError) {
                if try await store.read(key, as: Password.self, deadline: deadline) != nil { found.append(store) }
            } catch {
                if error.code == .cancelled || error.code == .corrupted { throw error }
                logger.info("can't search \(store.identity) for \(key): \(error)")
                refusal = refusal ?? unasked(error, "\(key)")
            }
        }
        return (found, refusal)
    }

    /// The store of a view that has no other one.
    private var only: (any CredentialStore)? { stores.count == 1 && refusals.isEmpty ? stores[0] : nil }

    private func holdSame(
        _ key: CredentialKey, _ one: any CredentialStore, _ other: any CredentialStore, _ deadline: Deadline
    ) async throws(StoreError) -> Bool {
        guard let first = try await one.read(key, as: Password.self, deadline: deadline),
            let second = try await other.read(key, as: Password.self, deadline: deadline)
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
