/// The credentials of another program, read into memory. `Transfer` copies them to a store.
package struct CredentialImport: Sendable {
    /// The credentials.
    package let store: InMemoryStore
    /// The count of entries that can't be imported: without an account, without a secret, with names that no store
    /// takes, with parts that no store takes, or under the name of an earlier entry with another secret.
    package private(set) var skippedCount = 0
    /// Which these are, as far as their formats name them, and why; no more than a person reads.
    package private(set) var skippedNames: [LogMessage] = []
    /// How many of the entries aren't among these.
    private(set) var unnamedCount = 0
    /// The files from which the secrets can be removed.
    package var files: [PlainSecretFile] = []

    package init() throws(StoreError) {
        store = try InMemoryStore()
    }

    /// Reads the content of a file. Returns the import, and the change that removes the secrets from the file; `nil` if
    /// the content seems to lack a secret.
    typealias Reader = @Sendable (borrowing Secret<MessageBody>) async throws -> (Self, PlainSecretFile.Change?)

    /// Reads a file. The same reader judges later whether the rest of the file contains a secret.
    static func reading(_ path: String, of program: StaticString, _ reader: @escaping Reader) async throws -> Self {
        let content = try ForeignFile.read(path, of: program)
        var (result, change) = try await reader(content)
        if let change {
            result.files = [PlainSecretFile(path, content, change, of: program) { try await reader($0).1 == nil }]
        }
        return result
    }

    /// Adds one entry. Of two under the same key the earlier one stays.
    ///
    /// - Parameter name: what the file calls it.
    mutating func add(
        service: String, account: String, label: String?, secret: consuming Secret<Password>, name: LogMessage? = nil
    ) async throws(StoreError) {
        let shown = name ?? "an entry"
        if account.isEmpty { return skip("\(shown), without a user") }
        if secret.isEmpty { return skip("\(shown), with an empty secret") }
        guard let key = try? CredentialKey(service: service, account: account) else {
            return skip("\(shown), with a name that stores refuse")
        }
        // A service is a name, and listings show names.
        let authority = service.firstRange(of: "://").map { service[$0.upperBound...].prefix { !"/?#".contains($0) } }
        if let authority, let at = authority.lastIndex(of: "@"), authority[..<at].contains(":") {
            return skip("\(shown), whose address has a password")
        }
        if let present = try await store.read(key, as: Password.self) {
            if !present.secret.matches(secret) { skip(name.map { "\($0), of which another secret was imported" }) }
            return
        }
        let isText = secret.withExposedBytes { (try? UTF8Span(validating: $0)) != nil }
        try await store.save(
            secret, for: key, options: SaveOptions(label: label, contentType: isText ? .text : .binary))
    }

    package mutating func skip(_ name: LogMessage? = nil) {
        skippedCount += 1
        if let name, skippedNames.count < 10 { skippedNames.append(name) } else { unnamedCount += 1 }
    }

    /// Leaves out several entries, which one line names.
    mutating func skip(_ count: Int, as line: LogMessage) {
        skippedCount += count
        skippedNames.append(line)
    }
}

extension LogMessage {
    /// The file's name for an entry, without what may be a name and a password before its host.
    static func entry(_ name: String) -> LogMessage {
        let login = name.lastIndex(of: "@").map { name[..<$0] } ?? ""
        let shown = login.contains(":") ? "***" + name[login.endIndex...] : name
        return "\(LoggableText(reviewed: "names of entries are what a listing shows", unredacted: shown))"
    }
}

extension Span<UInt8> {
    /// Whether what follows one of these marks assigns something to a name, as a login does that was commented out.
    func hasComment(_ marks: String, assigning name: StaticString, by separators: String) -> Bool {
        guard let mark = indices.first(where: { marks.utf8.contains(self[$0]) }) else { return false }
        return extracting((mark + 1)..<count).assigns(name, by: separators)
    }

    /// Whether the file has an assignment to a name, in upper or lower case: the name, a separator and a word.
    func assigns(_ name: StaticString, by separators: String) -> Bool {
        let name = Array(name.description.utf8)
        func isBlank(_ index: Int) -> Bool { self[index] <= 0x20 }
        for start in indices where start + name.count < count {
            guard start == 0 || !ASCII.isLetter(self[start - 1]),
                name.indices.allSatisfy({ self[start + $0] | 0x20 == name[$0] | 0x20 })
            else { continue }
            var index = start + name.count
            var hasSeparator = false
            while index < count, isBlank(index) || separators.utf8.contains(self[index]) {
                if separators.utf8.contains(self[index]) { hasSeparator = true }
                index += 1
            }
            if hasSeparator, index < count { return true }
        }
        return false
    }
}
