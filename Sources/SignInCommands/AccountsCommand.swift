internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal

/// `latchkey accounts [PROVIDER]`.
enum AccountsCommand {
    private struct Row {
        let provider: ProviderName
        let session: SessionSummary
        let isCurrent: Bool
        let store: StoreIdentity
    }

    /// What the stores keep, and why one could not be asked.
    private struct Rows {
        var all: [Row] = []
        var refusals: [(name: LogMessage, error: StoreError)] = []
    }

    static let command = Command(SignInDefinitions.accounts) { arguments, context in
        let rows = try await rows(arguments, context)
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(rows.all.map { json($0, namesStore: context.usesAllStores) }))
        } else {
            try context.output.write(table(rows.all, namesStore: context.usesAllStores))
        }
        // What can't be seen may be there all the same.
        if let (name, error) = rows.refusals.first { throw CommandFailure(notListed: name, error) }
        return .success
    }

    private static func table(_ rows: [Row], namesStore: Bool) -> TextTable {
        var table =
            namesStore
            ? TextTable("PROVIDER", "ACCOUNT", "CURRENT", "EXPIRES", "STORE", "SCOPES")
            : TextTable("PROVIDER", "ACCOUNT", "CURRENT", "EXPIRES", "SCOPES")
        for row in rows {
            let expiry: LogMessage =
                row.session.isReadable ? row.session.expiry.map { "\(Moment($0))" } ?? "-" : "unreadable"
            let account = Account(row.session.account)
            let current: LogMessage = row.isCurrent ? "yes" : ""
            if namesStore {
                table.append(
                    "\(row.provider)", "\(account)", current, expiry, "\(row.store)", "\(row.session.scopes)")
            } else {
                table.append("\(row.provider)", "\(account)", current, expiry, "\(row.session.scopes)")
            }
        }
        return table
    }

    private static func rows(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> Rows {
        let folder = context.providers
        let configurations: [ProviderConfiguration]
        if let name = arguments.optionalOperand("PROVIDER") {
            configurations = [try context.configuration(named: name)]
        } else {
            configurations = try folder.names().compactMap { try folder.read($0) }
        }
        guard !configurations.isEmpty else { return Rows() }
        let view = try await context.openView()
        var rows = Rows(refusals: view.refusals.map { ("\($0.name)", $0.error) })
        for store in view.stores {
            do throws(StoreError) {
                for configuration in configurations {
                    rows.all += try await self.rows(of: configuration, in: store, context)
                }
            } catch {
                guard context.usesAllStores, error.code != .cancelled else { throw error }
                rows.refusals.append(("\(store.identity)", error))
            }
        }
        // Stores one after the other; who has a session in two finds both together.
        rows.all.sort { ($0.provider.text, $0.session.account) < ($1.provider.text, $1.session.account) }
        return rows
    }

    private static func rows(
        of configuration: ProviderConfiguration, in store: any CredentialStore, _ context: CommandContext
    ) async throws(StoreError) -> [Row] {
        let sessions = SessionStore(
            store: store, provider: configuration.name.text,
            leases: .standard)
        let current = try await sessions.currentAccount(deadline: context.deadline)
        return try await sessions.summaries(deadline: context.deadline).map {
            Row(
                provider: configuration.name, session: $0, isCurrent: current?.hasSameOctets(as: $0.account) == true,
                store: store.identity)
        }
    }

    private static func json(_ row: Row, namesStore: Bool) -> LatchkeyTerminal.JSONValue {
        let fields: [(name: StaticString, value: LatchkeyTerminal.JSONValue)] = [
            ("provider", .message("\(row.provider)")), ("account", .text(text(row.session.account))),
            ("current", .bool(row.isCurrent)),
            ("expires", row.session.expiry.map { .message("\(Moment($0))") } ?? .null),
            ("refreshable", .bool(row.session.isRefreshable)), ("readable", .bool(row.session.isReadable)),
            ("scopes", .array(row.session.scopes.scopes.map { .text(text($0)) })),
        ]
        return .object(fields + (namesStore ? [("store", .message("\(row.store)"))] : []))
    }

    private static func text(_ text: String) -> LoggableText {
        LoggableText(reviewed: "accounts and scopes are what this listing shows", unredacted: text)
    }
}
