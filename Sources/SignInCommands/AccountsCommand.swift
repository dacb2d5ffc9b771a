internal import Credentials
internal import OAuth
internal import RedactedLog
internal import SignIn
internal import StoreCommands
internal import StoreSelection
internal import Terminal

/// `latchkey accounts [PROVIDER]`.
enum AccountsCommand {
    private struct Row {
        let provider: ProviderName
        let session: SessionSummary
        let isCurrent: Bool
    }

    static let command = Command(SignInDefinitions.accounts) { arguments, context in
        let rows = try await rows(arguments, context)
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(rows.map(json)))
        } else {
            var table = TextTable("PROVIDER", "ACCOUNT", "CURRENT", "EXPIRES", "SCOPES")
            for row in rows {
                let expiry: LogMessage =
                    row.session.isReadable ? row.session.expiry.map { "\(Moment($0))" } ?? "-" : "unreadable"
                table.append(
                    "\(row.provider)", "\(Account(row.session.account))", row.isCurrent ? "yes" : "", expiry,
                    "\(row.session.scopes)")
            }
            try context.output.write(table)
        }
        return .success
    }

    private static func rows(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> [Row] {
        let folder = context.providers
        let configurations: [ProviderConfiguration]
        if let name = arguments.optionalOperand("PROVIDER") {
            configurations = [try context.configuration(named: name)]
        } else {
            configurations = try folder.names().compactMap { try folder.read($0) }
        }
        guard !configurations.isEmpty else { return [] }
        let view = try await context.openView()
        var rows: [Row] = []
        for configuration in configurations {
            let service = SessionStore.service(ofProvider: configuration.name.text)
            let sessions = SessionStore(
                store: try await view.store(forService: service, deadline: context.deadline),
                provider: configuration.name.text,
                leases: .standard(environment: context.environment.variables, home: context.environment.home))
            let current = try await sessions.currentAccount(deadline: context.deadline)
            for session in try await sessions.summaries(deadline: context.deadline) {
                rows.append(
                    Row(provider: configuration.name, session: session, isCurrent: session.account == current))
            }
        }
        return rows
    }

    private static func json(_ row: Row) -> Terminal.JSONValue {
        .object([
            ("provider", .message("\(row.provider)")), ("account", .text(text(row.session.account))),
            ("current", .bool(row.isCurrent)),
            ("expires", row.session.expiry.map { .message("\(Moment($0))") } ?? .null),
            ("renewable", .bool(row.session.isRenewable)), ("readable", .bool(row.session.isReadable)),
            ("scopes", .array(row.session.scopes.scopes.map { .text(text($0)) })),
        ])
    }

    private static func text(_ text: String) -> LoggableText {
        LoggableText(reviewed: "accounts and scopes are what this listing shows", unredacted: text)
    }
}
