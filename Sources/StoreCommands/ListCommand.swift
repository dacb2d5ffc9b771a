package import Credentials
internal import RedactedLog
internal import StoreSelection
internal import Terminal

/// `latchkey list [SERVICE] [--json]`.
enum ListCommand {
    static let command = Command(
        CommandDefinition(
            "list", summary: "list what is kept, without the secrets",
            operands: [.optional("SERVICE", help: "only this service")], options: [GlobalOptions.json],
            details: """
                With --all-stores, each credential's store is shown too, and a store that can't be opened is an error
                after what the others keep.
                """)
    ) { arguments, context in
        let service = arguments.optionalOperand("SERVICE")
        let view = try await context.openView()
        var rows: [Row] = []
        var refusals = view.refusals.map { ("\($0.name)" as LogMessage, $0.error) }
        for store in view.stores {
            do throws(StoreError) {
                for entry in try await store.list(service: service, deadline: context.deadline).all() {
                    rows.append(Row(entry: entry, store: store.identity))
                }
            } catch {
                guard context.usesAllStores, error.code != .cancelled else { throw error }
                refusals.append(("\(store.identity)", error))
            }
        }
        // Stores have orders of their own; people look for names.
        rows.sort { $0.entry.key.isListed(before: $1.entry.key) }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(rows.map { json($0, namesStore: context.usesAllStores) }))
        } else {
            try context.output.write(context.usesAllStores ? tableWithStores(rows) : table(rows))
        }
        // What can't be seen may be there all the same.
        if let (name, error) = refusals.first { throw CommandFailure(notListed: name, error) }
        return .success
    }

    private struct Row {
        let entry: CredentialMetadata
        let store: StoreIdentity
    }

    private static func table(_ rows: [Row]) -> TextTable {
        var table = TextTable("SERVICE", "ACCOUNT", "KIND", "CHANGED", "LABEL")
        for row in rows {
            table.append(
                "\(name(row.entry.key.service))", "\(name(row.entry.key.account))", "\(row.entry.key.kind)",
                "\(Moment(row.entry.modified))", "\(name(row.entry.label))")
        }
        return table
    }

    private static func tableWithStores(_ rows: [Row]) -> TextTable {
        var table = TextTable("SERVICE", "ACCOUNT", "KIND", "CHANGED", "STORE", "LABEL")
        for row in rows {
            table.append(
                "\(name(row.entry.key.service))", "\(name(row.entry.key.account))", "\(row.entry.key.kind)",
                "\(Moment(row.entry.modified))", "\(row.store)", "\(name(row.entry.label))")
        }
        return table
    }

    private static func json(_ row: Row, namesStore: Bool) -> JSONValue {
        let entry = row.entry
        return .object(
            [
                ("service", .text(name(entry.key.service))), ("account", .text(name(entry.key.account))),
                ("kind", .message("\(entry.key.kind)")), ("label", .text(name(entry.label))),
                ("created", .message("\(Moment(entry.created))")), ("changed", .message("\(Moment(entry.modified))")),
            ] + (namesStore ? [("store", .message("\(row.store)"))] : []))
    }

    private static func name(_ text: String) -> LoggableText {
        LoggableText(reviewed: "services, accounts and labels are what a listing shows", unredacted: text)
    }
}

extension CommandFailure {
    fileprivate init(notListed store: LogMessage, _ error: StoreError) {
        self.init(
            error.exitStatus, error.codeName, "not every store could be listed: \(store): \(error.cause)",
            hint: error.hint)
    }
}

extension CredentialKey {
    /// The order in which people look for names.
    package func isListed(before other: CredentialKey) -> Bool {
        for (left, right) in [
            (service, other.service), (account, other.account), (kind.name, other.kind.name),
        ] where !left.utf8.elementsEqual(right.utf8) {
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return false
    }
}
