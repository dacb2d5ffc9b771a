package import LatchkeyCredentials
internal import LatchkeyJSON
internal import LatchkeyLog
package import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

/// Stores one provider's sessions in any `CredentialStore`: one item for each account, one for the name of the current
/// account, and one for each key that a session's tokens are bound to.
///
/// Items have the service `latchkey:PROVIDER`. The account of a session is the account's name, with the kind `session`;
/// the account of a key is its thumbprint, with the kind `private-key`.
package struct SessionStore: Sendable {
    package let store: any CredentialStore
    package let provider: String
    private let leases: LeaseDirectory

    /// The purpose of the item with the current account's name. The name isn't secret, but a store only contains
    /// secrets.
    enum CurrentAccount: SecretPurpose { static var name: StaticString { "current account" } }

    package init(store: any CredentialStore, provider: String, leases: LeaseDirectory) {
        self.store = store
        self.provider = provider
        self.leases = leases
    }

    var service: String { Self.service(ofProvider: provider) }

    /// The service under which a provider's sessions are stored.
    package static func service(ofProvider name: String) -> String { CredentialKey.providerPrefix + name }

    /// Throws `.permissionDenied`, for a name that no store takes: empty, too long, or with control characters.
    package func key(_ account: String, kind: CredentialKind = .session) throws(StoreError) -> CredentialKey {
        return try mapError(
            { (error: InvalidValue) in
                StoreError(.permissionDenied, "the account's name can't be a key: \(error.cause)", hint: error.hint)
            },
            of: CredentialKey(service: service, account: account, kind: kind))
    }

    /// Whether a store takes an account's name: one that is neither empty nor too long, without control characters.
    func takes(_ account: String) -> Bool { failure(StoreError.self, of: try key(account)) == nil }

    private func currentKey() throws(StoreError) -> CredentialKey { try key("current", kind: .current) }

    // MARK: - Sessions

    /// Saves a session, replacing the one of its account.
    package func save(_ session: borrowing StoredSession, deadline: Deadline = .standard) async throws(StoreError) {
        let secret = try mapError(
            { (_: JSONError) in StoreError(.tooLarge, "the session is too large for a store") },
            of: session.encoded())
        let options = SaveOptions(label: "\(session.account) at \(provider) (sign-in)", contentType: .text)
        try await store.save(secret, for: try key(session.account), options: options, deadline: deadline)
    }

    /// Returns the session of an account, or `nil`. Throws `.corrupted` for an item that isn't a Latchkey session
    /// of that account.
    package func load(_ account: String, deadline: Deadline = .standard) async throws(StoreError) -> StoredSession? {
        guard let record = try await store.read(try key(account), as: StoredLogin.self, deadline: deadline) else {
            return nil
        }
        // A refresh would take this account's lease and save under the other account.
        guard let session = try? StoredSession(decoding: record.secret), session.account.hasSameOctets(as: account)
        else {
            throw StoreError(
                .corrupted, "the session of \(record.metadata.key) can't be read", hint: "sign in again")
        }
        return session
    }

    /// Deletes all that is known of an account, and returns whether it had a session. If the account was the current
    /// one, the provider then lacks a current account.
    @discardableResult
    package func delete(_ account: String, deadline: Deadline = .standard) async throws(StoreError) -> Bool {
        let existed = try await deleteSession(of: account, deadline: deadline)
        if try await currentAccount(deadline: deadline)?.hasSameOctets(as: account) == true {
            try await setCurrentAccount(nil, deadline: deadline)
        }
        try await forgetEnd(of: account, deadline: deadline)
        return existed
    }

    /// Deletes the session of an account with its key. A current account stays the current one: a command that names
    /// none fails then, and doesn't do the work as another person.
    @discardableResult
    func deleteSession(of account: String, deadline: Deadline = .standard) async throws(StoreError) -> Bool {
        let thumbprint = try await keyThumbprint(of: account, deadline: deadline)
        let existed = try await store.delete(try key(account), condition: .none, deadline: deadline)
        // The session first: a key without one is of no use.
        if let thumbprint { try await deleteKey(thumbprint, deadline: deadline) }
        for key in try await roleKeys(of: account, deadline: deadline) {
            try await store.delete(key, condition: .none, deadline: deadline)
        }
        return existed
    }

    /// The kinds of items with a role's credentials, which a session's ID token brought, begin so.
    package static let roleKindPrefix = "aws-role-"

    private func roleKeys(of account: String, deadline: Deadline) async throws(StoreError) -> [CredentialKey] {
        try await store.list(service: service, deadline: deadline).all().map(\.key).filter {
            $0.kind.name.hasPrefix(Self.roleKindPrefix) && $0.account.hasSameOctets(as: account)
        }
    }

    private func keyThumbprint(of account: String, deadline: Deadline) async throws(StoreError) -> String? {
        // An unreadable session can be deleted too.
        try await nilIf(
            \StoreError.isCorruption, awaiting: await load(account, deadline: deadline)?.keyThumbprint) ?? nil
    }

    /// Returns the names of all accounts with a session, in order.
    package func accounts(deadline: Deadline = .standard) async throws(StoreError) -> [String] {
        try await store.list(service: service, deadline: deadline).all().filter { $0.key.kind == .session }
            .map(\.key.account).sorted()
    }

    /// Returns the accounts that requests may use, if they name none: the current account, or else all.
    package func accountsInUse(deadline: Deadline = .standard) async throws(StoreError) -> [String] {
        if let current = try await currentAccount(deadline: deadline) { return [current] }
        return try await accounts(deadline: deadline)
    }

    /// Returns what can be shown of the session that requests use if they name none, or `nil`.
    package func currentSummary() async throws(StoreError) -> SessionSummary? {
        let names = try await accountsInUse()
        return names.count == 1 ? try await load(names[0])?.summary : nil
    }

    /// Returns what can be shown of each session, in the order of the accounts. One that is damaged is listed as
    /// unreadable, and hides no other.
    package func summaries(deadline: Deadline = .standard) async throws(StoreError) -> [SessionSummary] {
        var summaries: [SessionSummary] = []
        for account in try await accounts(deadline: deadline) {
            do throws(StoreError) {
                if let session = try await load(account, deadline: deadline) { summaries.append(session.summary) }
            } catch {
                guard error.code == .corrupted else { throw error }
                summaries.append(SessionSummary(unreadable: account))
            }
        }
        return summaries
    }

    /// Saves a session whose old refresh token the server may have spent: a store that is locked or away for now is
    /// tried again.
    func save(
        _ session: borrowing StoredSession, within patience: Duration, _ log: RedactedLogger
    ) async throws(StoreError) {
        let deadline = Deadline.after(patience)
        var (pause, isFirst, wasDismissed) = (Duration.milliseconds(50), true, false)
        while true {
            do throws(StoreError) {
                return try await save(session, deadline: deadline)
            } catch {
                // If the person dismissed the prompt, the next attempt asks again, later and only once.
                if error.code == .promptDismissed {
                    guard !wasDismissed else { throw error }
                    wasDismissed = true
                    pause = min(patience / 3, deadline.remaining / 2)
                }
                guard error.isPassing, deadline.remaining > pause else { throw error }
                if isFirst { log.warning("can't store the refreshed session yet: \(error)") }
                isFirst = false
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(2))
        }
    }

    // MARK: - Keys

    /// Saves the key that a session will be bound to: before the session, which names it.
    package func saveKey(_ key: borrowing ES256Key, account: String) async throws(StoreError) {
        let secret = try mapError(
            { (_: JSONError) in StoreError(.tooLarge, "the key is too large for a store") }, of: key.encoded())
        let options = SaveOptions(label: "\(account) at \(provider) (key of the sign-in)", contentType: .text)
        try await store.save(
            secret, for: try self.key(key.thumbprint, kind: .privateKey), options: options, deadline: .standard)
    }

    /// Returns the key with a thumbprint, or `nil` if its item is missing, or isn't that key.
    package func loadKey(_ thumbprint: String) async throws(StoreError) -> ES256Key? {
        let name = try key(thumbprint, kind: .privateKey)
        guard let record = try await store.read(name, as: PrivateKey.self, deadline: .standard),
            let key = try mapError(StoreError.init, of: ES256Key(decoding: record.secret)),
            key.thumbprint.hasSameOctets(as: thumbprint)
        else { return nil }
        return key
    }

    /// Deletes the key with a thumbprint, if there is one.
    package func deleteKey(_ thumbprint: String, deadline: Deadline = .standard) async throws(StoreError) {
        try await store.delete(try key(thumbprint, kind: .privateKey), condition: .none, deadline: deadline)
    }

    // MARK: - The current account

    /// Returns the name of the current account, or `nil`.
    package func currentAccount(deadline: Deadline = .standard) async throws(StoreError) -> String? {
        guard let record = try await store.read(try currentKey(), as: CurrentAccount.self, deadline: deadline) else {
            return nil
        }
        return record.secret.withExposedBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    /// - Parameter account: `nil` for none.
    package func setCurrentAccount(_ account: String?, deadline: Deadline = .standard) async throws(StoreError) {
        guard let account else {
            try await store.delete(try currentKey(), condition: .none, deadline: deadline)
            return
        }
        let name = Array(account.utf8)
        let options = SaveOptions(label: "current account at \(provider)", contentType: .text)
        try await store.save(
            Secret<CurrentAccount>(copying: name.span), for: try currentKey(), options: options, deadline: deadline)
    }

    // MARK: - Exclusive access

    /// Returns the lease of an account's session, among all processes.
    package func lease(_ account: String, deadline: Deadline) async throws(StoreError) -> Lease {
        try await store.exclusiveAccess(to: try key(account), in: leases, deadline: deadline)
    }

    /// Throws the error that prevents any lease, such as a read-only disk. A lease of another process isn't an error.
    func checkLease(_ account: String) async throws(StoreError) {
        let error = await failure(
            StoreError.self, awaiting: try await lease(account, deadline: .after(.seconds(1))).release())
        if let error, error.code != .busy, error.code != .timedOut { throw error }
    }
}

extension StoreError {
    /// Whether a store may accept in some seconds what it refused.
    var isPassing: Bool {
        switch code {
        case .unavailable, .locked, .promptDismissed, .timedOut, .permissionDenied, .busy, .cannotWrite,
            .protocolViolation:
            true
        default: false
        }
    }
}

/// The mark of a session that the server has ended: an item without a secret in the session's place, until the next
/// sign-in or sign-out. It tells the person why they are no longer signed in.
extension SessionStore {
    /// A session that its server has ended.
    package struct EndedSession: Sendable, Hashable {
        package let account: String
        /// When that was noticed.
        package let noticed: UnixTime
    }

    /// The item's content instead of a secret.
    private enum EndMark: SecretPurpose { static var name: StaticString { "mark of an ended session" } }

    /// Remembers that an account's session was ended.
    func rememberEnd(of account: String) async throws(StoreError) {
        let options = SaveOptions(label: "\(account) at \(provider) (ended by the server)", contentType: .text)
        let mark = Secret<EndMark>(copying: Array("ended".utf8).span)
        try await store.save(mark, for: try key(account, kind: .ended), options: options, deadline: .standard)
    }

    func forgetEnd(of account: String, deadline: Deadline = .standard) async throws(StoreError) {
        try await store.delete(try key(account, kind: .ended), condition: .none, deadline: deadline)
    }

    /// Returns the sessions that were ended, in the order of their accounts.
    package func endedSessions(deadline: Deadline = .standard) async throws(StoreError) -> [EndedSession] {
        try await store.list(service: service, deadline: deadline).all().filter { $0.key.kind == .ended }
            .map { EndedSession(account: $0.key.account, noticed: $0.modified) }.sorted { $0.account < $1.account }
    }
}
