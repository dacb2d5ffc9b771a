internal import Credentials
internal import RedactedLog
internal import Terminal

/// `latchkey list [SERVICE] [--json]`.
enum ListCommand {
    static let command = Command(
        CommandDefinition(
            "list", summary: "list what is kept, without the secrets",
            operands: [.optional("SERVICE", help: "only this service")], options: [GlobalOptions.json])
    ) { arguments, context in
        let service = arguments.optionalOperand("SERVICE")
        let store = try await context.openStore()
        // Stores have orders of their own; people look for names.
        let entries = try await store.list(service: service, deadline: context.deadline).all()
            .sorted { $0.key.isListed(before: $1.key) }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(entries.map(json)))
        } else {
            try context.output.write(table(entries))
        }
        return .success
    }

    private static func table(_ entries: [CredentialMetadata]) -> TextTable {
        var table = TextTable("SERVICE", "ACCOUNT", "KIND", "CHANGED", "LABEL")
        for entry in entries {
            table.append(
                "\(name(entry.key.service))", "\(name(entry.key.account))", "\(entry.key.kind)",
                "\(Moment(entry.modified))", "\(name(entry.label))")
        }
        return table
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
