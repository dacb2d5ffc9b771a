internal import LatchkeyCredentials
internal import LatchkeyLeakAudit
internal import LatchkeyLog

/// The tools of a case: the store, separate names, and checks that report the actual result.
struct ContractContext: Sendable {
    let store: any CredentialStore
    let leases: LeaseDirectory
    let effort: ContractCase.Effort
    /// Opens the same place once more.
    let open: @Sendable () async throws -> any CredentialStore
    /// A service name that no other test uses.
    let service: String
    /// A secret of 80 bytes of which no piece may be in what `audit` captures: every expected error, for one.
    let canary: String
    let audit = LeakAudit(knownForms: [])

    init(
        store: any CredentialStore, leases: LeaseDirectory, effort: ContractCase.Effort,
        open: @escaping @Sendable () async throws -> any CredentialStore
    ) {
        self.store = store
        self.leases = leases
        self.effort = effort
        self.open = open
        service = "contract-" + String(UInt64.random(in: .min ... .max), radix: 36)
        canary = String((0..<80).compactMap { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() })
        try? audit.plant(Secret<Password>(copying: Array(canary.utf8).span))
    }

    /// The store, and where it is persistent two more openings of its place, as by other processes.
    func openings() async throws -> [any CredentialStore] {
        guard store.capabilities.isPersistent else { return [store] }
        return [store, try await open(), try await open()]
    }

    /// `count`, or ten times that for a long run.
    func times(_ count: Int) -> Int { effort == .long ? count * 10 : count }

    /// Long enough for any store that works, so that one that hangs fails rather than blocks the suite.
    var timeout: Deadline { .after(.seconds(60)) }

    var passed: Deadline { Deadline(.now - .seconds(1)) }

    func key(_ account: String, service: String? = nil, kind: CredentialKind = .password) throws -> CredentialKey {
        try CredentialKey(service: service ?? self.service, account: account, kind: kind)
    }

    // MARK: - Saving and reading plain bytes

    @discardableResult
    func save(
        _ bytes: [UInt8], _ key: CredentialKey, options: SaveOptions = SaveOptions(),
        in other: (any CredentialStore)? = nil
    ) async throws(StoreError) -> CredentialVersion {
        let secret = Secret<Password>(copying: bytes.span)
        return try await (other ?? store).save(secret, for: key, options: options, deadline: timeout)
    }

    @discardableResult
    func save(
        _ text: String, _ key: CredentialKey, options: SaveOptions = SaveOptions(),
        in other: (any CredentialStore)? = nil
    ) async throws(StoreError) -> CredentialVersion {
        try await save(Array(text.utf8), key, options: options, in: other)
    }

    func read(_ key: CredentialKey, in other: (any CredentialStore)? = nil) async throws(StoreError) -> Seen? {
        guard let record = try await (other ?? store).read(key, as: Password.self, deadline: timeout) else {
            return nil
        }
        let bytes = record.secret.withExposedBytes { span in unsafe span.withUnsafeBufferPointer { unsafe Array($0) } }
        return Seen(
            bytes: bytes, version: record.version, contentType: record.contentType, metadata: record.metadata)
    }

    /// A record whose secret is not secret: the suite made it up.
    struct Seen: Sendable, Hashable {
        let bytes: [UInt8]
        let version: CredentialVersion
        let contentType: SecretContentType
        let metadata: CredentialMetadata
    }

    // MARK: - Checks

    func expect(
        _ holds: Bool, _ detail: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
    ) throws(ContractViolation) {
        if !holds { throw ContractViolation(detail(), file: file, line: line) }
    }

    /// Checks that exactly these bytes are under the key.
    func expect(
        _ key: CredentialKey, holds bytes: [UInt8], in other: (any CredentialStore)? = nil, _ when: String = "",
        file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        guard let seen = try await read(key, in: other) else {
            throw ContractViolation("the credential is missing \(when)", file: file, line: line)
        }
        try expect(
            seen.bytes == bytes, "\(seen.bytes.count) bytes came back, other than the \(bytes.count) saved \(when)",
            file: file, line: line)
        try expect(
            seen.metadata.key == key && seen.metadata.version ?? seen.version == seen.version,
            "the record has another key's metadata \(when)", file: file, line: line)
    }

    func expectAbsent(
        _ key: CredentialKey, in other: (any CredentialStore)? = nil, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        let seen = try await read(key, in: other)
        try expect(seen == nil, "a credential is there", file: file, line: line)
    }

    /// Checks that the credential is the same in all that a read tells.
    func expect(
        _ key: CredentialKey, isStill before: Seen?, file: StaticString = #fileID, line: UInt = #line
    ) async throws {
        let seen = try await read(key)
        try expect(seen == before, "what was refused changed the credential", file: file, line: line)
    }

    /// Checks that `body` throws this code, or the other one, and returns the error.
    @discardableResult
    func expect(
        _ code: StoreError.Code, or other: StoreError.Code? = nil, from what: String, file: StaticString = #fileID,
        line: UInt = #line,
        _ body: () async throws(StoreError) -> Void
    ) async throws -> StoreError {
        if let error = await failure(StoreError.self, awaiting: try await body()) {
            capture(error, of: what)
            try expect(
                error.code == code || error.code == other, "\(what) threw \(error), not \(code.name)", file: file,
                line: line)
            return error
        }
        throw ContractViolation("\(what) did not throw \(code.name)", file: file, line: line)
    }

    /// Checks that `body` throws `cancelled` in a task that was cancelled before.
    func expectCancelled(
        _ what: String, file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws(StoreError) -> Void
    ) async throws {
        let task = Task { () async -> StoreError? in
            // Not before the cancellation below, which the sleep notices.
            try? await Task.sleep(for: .seconds(60))
            return await failure(StoreError.self, awaiting: try await body())
        }
        task.cancel()
        let error = await task.value
        if let error { capture(error, of: what) }
        try expect(
            error?.code == .cancelled, what + (error.map { " threw \($0)" } ?? " did its work"), file: file, line: line)
    }

    private func capture(_ error: StoreError, of what: String) {
        audit.capture(value: error, as: "the error of \(what)")
        let texts = [error.cause, error.logMessage] + [error.hint].compactMap(\.self)
        for message in texts { audit.capture(message.text, as: "the error of \(what)") }
    }
}
