internal import Credentials
internal import RedactedLog
internal import Terminal

/// `latchkey list [SERVICE] [--json]`.
enum ListCommand {
    static let command = Command(
        CommandDefinition(
            "list", summary: "list what is kept, without the secrets",
            operands: [.optional("SERVICE", help: "only this service")], options: [GlobalOptions.json],
            details: """
                Up to 10,000 are listed in the order of their names. More come in the order of the store, as they are read;
                one may come twice then while a vault's key is rotated.
                """)
    ) { arguments, context in
        let service = arguments.optionalOperand("SERVICE")
        let store = try await context.openStore()
        var entries = store.list(service: service, deadline: context.deadline).makeAsyncIterator()
        // Stores have orders of their own; people look for names.
        var batch = try await next(sortedCount + 1, of: &entries)
        var isAtEnd = batch.count <= sortedCount
        if isAtEnd { batch = latest(batch).sorted { $0.key.isListed(before: $1.key) } }
        var table = TextTable("SERVICE", "ACCOUNT", "KIND", "CHANGED", "LABEL")
        var array = JSONArrayOutput(context.output)
        while true {
            if arguments.has(GlobalOptions.json) {
                try array.write(batch.map(json))
            } else {
                for entry in batch { append(entry, to: &table) }
                try context.output.write(table)
                table = table.continued()
            }
            if isAtEnd { break }
            batch = try await next(batchCount, of: &entries)
            isAtEnd = batch.count < batchCount
        }
        if arguments.has(GlobalOptions.json) { try array.end() }
        return .success
    }

    /// How many are held in memory to be sorted.
    private static let sortedCount = 10_000
    /// How many of more than that are written at once.
    private static let batchCount = 500

    private static func next(
        _ count: Int, of entries: inout CredentialListing.Iterator
    ) async throws(StoreError) -> [CredentialMetadata] {
        var batch: [CredentialMetadata] = []
        while batch.count < count, let entry = try await entries.next() { batch.append(entry) }
        return batch
    }

    /// Each key once: of what was changed and so came twice, the later state.
    private static func latest(_ entries: [CredentialMetadata]) -> [CredentialMetadata] {
        Array(Dictionary(entries.map { ($0.key, $0) }) { $1 }.values)
    }

    private static func append(_ entry: CredentialMetadata, to table: inout TextTable) {
        table.append(
            "\(name(entry.key.service))", "\(name(entry.key.account))", "\(entry.key.kind)",
            "\(Moment(entry.modified))", "\(name(entry.label))")
    }

    private static func json(_ entry: CredentialMetadata) -> JSONValue {
        .object([
            ("service", .text(name(entry.key.service))), ("account", .text(name(entry.key.account))),
            ("kind", .message("\(entry.key.kind)")), ("label", .text(name(entry.label))),
            ("created", .message("\(Moment(entry.created))")), ("changed", .message("\(Moment(entry.modified))")),
        ])
    }

    private static func name(_ text: String) -> LoggableText {
        LoggableText(reviewed: "services, accounts and labels are what a listing shows", unredacted: text)
    }
}

extension CredentialKey {
    fileprivate func isListed(before other: CredentialKey) -> Bool {
        for (left, right) in [
            (service, other.service), (account, other.account), (kind.name, other.kind.name),
        ] where !left.utf8.elementsEqual(right.utf8) {
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return false
    }
}
