internal import LatchkeyOAuth
internal import LatchkeySignIn

/// `latchkey accounts [PROVIDER]`.
enum AccountsCommand {
    private enum State {
        case active, expired, ended, unreadable

        /// For programs.
        var word: StaticString {
            switch self {
            case .active: "active"
            case .expired: "expired"
            case .ended: "ended"
            case .unreadable: "unreadable"
            }
        }
    }

    private struct Row {
        let provider: ProviderName
        let session: SessionSummary
        let isCurrent: Bool
        let store: StoreIdentity
        /// Whether another token comes without a person.
        let renews: Bool
        /// When it was noticed that the server has ended the session; `nil` for one that is there.
        var ended: UnixTime?

        /// The end of the token, or of the session with it.
        var end: LogMessage {
            if let ended { return "ended \(LocalMoment(ended))" }
            if !session.isReadable { return "unreadable" }
            let now = UnixTime.now()
            switch (session.expiry, renews) {
            case (nil, true): return "refreshes itself"
            case (nil, false): return "unknown"
            case (let end?, true): return "token \(LocalMoment(end)), refreshes itself"
            case (let end?, false) where end <= now: return "ended \(LocalMoment(end))"
            case (let end?, false): return "session \(LocalMoment(end))"
            }
        }

        var place: String { "\(provider.text) \(session.account)" }

        var state: State {
            if ended != nil { return .ended }
            if !session.isReadable { return .unreadable }
            guard let end = session.expiry, end <= UnixTime.now() else { return .active }
            return renews ? .expired : .ended
        }
    }

    /// The sessions in the stores, and the errors of unreadable stores.
    private struct Rows {
        var all: [Row] = []
        var refusals: [(name: LogMessage, error: StoreError)] = []
        /// Of a provider's file that can't be read.
        var damage: (any Error)?
    }

    private static let check = CommandOption.flag(
        "--check", help: "list only sessions that have ended, and exit with 77 if there are any")

    static let command = Command(
        "accounts", topic: .signIns, summary: "list the accounts that are signed in",
        operands: [.optional("PROVIDER", help: "provider to list (default: all)")], options: [check],
        details: """
            accounts also shows when the token or the session ends, in local time. A session that its server has ended stays in the list,
            marked as ended, until the next sign-in or sign-out.

            --check refreshes expired tokens, and writes a line with the next command for each session that has ended. If none has
            ended and one couldn't be checked, it exits with the status of that failure.
            """,
        examples: ["latchkey accounts", "latchkey accounts github --json", "latchkey accounts --check"]
    ) { arguments, context in
        let checks = arguments.has(check)
        var failed: Int32?
        var rows = try await rows(arguments, context)
        if checks {
            var refused: Set<String> = []
            for row in rows.all where row.state == .expired {
                // The worker stores what it finds, unless the server leaves open whether the session has ended.
                let account = "\(SignInOptions.account.name.description)=\(row.session.account)"
                let status = try WorkerProcess.runQuietly(
                    ["token", row.provider.text, account] + context.workerArguments)
                switch status {
                case ExitStatus.refused.rawValue: refused.insert(row.place)
                case ExitStatus.success.rawValue, ExitStatus.notFound.rawValue: break
                default:
                    failed = failed ?? status
                    context.output.warn(
                        "can't check whether the session of \(Account(row.session.account)) at \(row.provider) has ended",
                        hint:
                            "see why: latchkey token \(row.provider) --account \(Account(row.session.account).word)")
                }
            }
            rows = try await Self.rows(arguments, context)
            rows.all.removeAll { row in
                switch row.state {
                case .ended, .unreadable: false
                case .expired: !refused.contains(row.place)
                case .active: true
                }
            }
        }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(rows.all.map { json($0, namesStore: context.usesAllStores) }))
        } else if checks {
            for row in rows.all {
                let account = Account(row.session.account)
                let command: LogMessage = "latchkey sign-in \(row.provider) --account \(account.word)"
                try context.output.write("\(row.provider) \(account) \(row.state.word): \(command)")
            }
        } else {
            try context.output.write(
                table(rows.all, namesStore: context.usesAllStores),
                orNote: "no account is signed in; to see how to sign in, run `latchkey help sign-in`")
        }
        if let damage = rows.damage { throw damage }
        // An unreadable store may contain the session too.
        if let (name, error) = rows.refusals.first { throw CommandFailure(notListed: name, error) }
        if checks && !rows.all.isEmpty { return .refused }
        return failed.flatMap(ExitStatus.init(rawValue:)) ?? .success
    }

    private static func table(_ rows: [Row], namesStore: Bool) -> TextTable {
        var table = TextTable(
            "PROVIDER", "ACCOUNT", "CURRENT", "EXPIRES", "STORE", "SCOPES", dropping: ["SCOPES", "EXPIRES"],
            omitting: namesStore ? [] : ["STORE"])
        for row in rows {
            table.append(
                "\(row.provider)", "\(Account(row.session.account))", row.isCurrent ? "yes" : "", row.end,
                "\(row.store)", "\(row.session.scopes)")
        }
        return table
    }

    private static func rows(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> Rows {
        let folder = context.providers
        var configurations: [ProviderConfiguration] = []
        var damage: (any Error)?
        if let name = arguments.optionalOperand("PROVIDER") {
            configurations = [try context.configuration(named: name)]
        } else {
            for name in try folder.names() {
                do {
                    if let configuration = try folder.read(name) { configurations.append(configuration) }
                } catch {
                    damage = damage ?? error
                }
            }
        }
        guard !configurations.isEmpty else { return Rows(damage: damage) }
        let view = try await context.openView()
        var rows = Rows(refusals: view.refusals.map { ("\($0.name)", $0.error) }, damage: damage)
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
        let rows = try await sessions.summaries(deadline: context.deadline).map {
            Row(
                provider: configuration.name, session: $0, isCurrent: current?.hasSameOctets(as: $0.account) == true,
                store: store.identity, renews: $0.isRefreshable || configuration.grant != nil)
        }
        return try await rows
            + sessions.endedSessions(deadline: context.deadline).map {
                Row(
                    provider: configuration.name, session: SessionSummary(unreadable: $0.account),
                    isCurrent: current?.hasSameOctets(as: $0.account) == true,
                    store: store.identity, renews: false, ended: $0.noticed)
            }
    }

    /// A session's members in JSON, here and after a sign-in.
    static func members(
        _ provider: ProviderName, _ session: SessionSummary, refreshes: Bool
    ) -> [(name: StaticString, value: JSONOutput)] {
        [
            ("provider", .message("\(provider)")), ("account", .text(text(session.account))),
            ("expires", session.expiry.map { .message("\(Moment($0))") } ?? .null),
            ("refreshable", .bool(refreshes)),
            ("scopes", .array(session.scopes.scopes.map { .text(text($0)) })),
        ]
    }

    private static func json(_ row: Row, namesStore: Bool) -> JSONOutput {
        let fields: [(name: StaticString, value: JSONOutput)] = [
            ("current", .bool(row.isCurrent)), ("readable", .bool(row.session.isReadable)),
            ("state", .message("\(row.state.word)")),
        ]
        return .object(
            members(row.provider, row.session, refreshes: row.renews) + fields
                + (namesStore ? [("store", .message("\(row.store)"))] : []))
    }

    private static func text(_ text: String) -> LoggableText {
        LoggableText(reviewed: "accounts and scopes are what this listing shows", unredacted: text)
    }
}
