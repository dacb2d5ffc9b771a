internal import LatchkeySignIn

/// A sign-in whose token may go to the host that a tool asks for.
struct HostSession: ~Copyable {
    let provider: ProviderName
    let account: String
    /// The person's next step after a refused token.
    let recovery: LogMessage
    /// The access token, or the ID token where the tool sends that one instead.
    let token: Secret<AccessToken>
    /// When the token ends; `nil` when the server didn't say.
    let expiry: UnixTime?

    fileprivate init(
        _ session: borrowing StoredSession, at configuration: ProviderConfiguration, _ kind: StoredSession.Token
    ) throws {
        guard let token = session.bearer(kind) else {
            throw CommandFailure(noIDTokenAt: configuration, SignInError(.noIDToken))
        }
        provider = configuration.name
        account = session.account
        recovery =
            configuration.grant == nil
            ? "to sign in again: latchkey sign-in \(configuration.name)"
            : "see why: latchkey token \(configuration.name)"
        self.token = token
        expiry = session.end(of: kind)
    }

    /// Whether servers accept this user name for any owner of a token: see GitLab's and GitHub's documentation.
    static func namesAnyone(_ user: String) -> Bool { ["oauth2", "x-access-token"].contains(user) }

    /// The user's name that goes with the token in a Basic field. GitLab takes no other one; elsewhere the token alone
    /// counts.
    static let user = "oauth2"
}

extension CommandContext {
    /// Returns the session whose token may go to an origin, refreshed if it has expired; `nil` without such a
    /// session.
    ///
    /// - Parameters:
    ///   - origin: scheme, host and port.
    ///   - user: the user in the tool's request. This user has to be an account's name, or a name that servers accept
    ///     for any token's owner.
    func session(at origin: String, user: String?, _ view: StoreView) async throws -> HostSession? {
        var first: CommandFailure?
        for configuration in try configurations(at: origin) {
            do {
                if let session = try await session(at: configuration, user: user, view) { return session }
            } catch let error as StoreError where view.isOfSeveral && !error.endsSearch {
                // Another store may have another credential for the tool; a search for one reports this store.
                continue
            } catch let error as CommandFailure where Self.ofOneSession.contains(error.codeName.description) {
                // Another provider's session may go there, too.
                first = first ?? error
            }
        }
        if let first { throw first }
        return nil
    }

    private static let ofOneSession = ["sign-in.session-ended", "helper.not-refreshed"]

    /// Whether `session(at:user:_:)` finds a session there, fresh or expired. Asks no server.
    func hasSession(at origin: String, user: String?, _ view: StoreView) async throws -> Bool {
        for configuration in try configurations(at: origin) {
            let sessions = try await sessions(configuration, in: view)
            if configuration.grant != nil { return true }
            guard let account = try await account(user, sessions) else { continue }
            if try await bearerSession(of: account, at: configuration, sessions, .access) != nil { return true }
        }
        return false
    }

    /// The providers whose tokens may go to an origin. Other commands report a wrong provider file.
    private func configurations(at origin: String) throws -> [ProviderConfiguration] {
        let own = [("https://", ":443"), ("http://", ":80")].first { origin.hasPrefix($0) && origin.hasSuffix($1) }
        let origin = String(origin.dropLast(own?.1.count ?? 0))
        return try providers.names().compactMap { try? providers.read($0) }.filter {
            (try? $0.provider())?.origins.contains(origin) == true
        }
    }

    /// Returns the session that a helper's operand PROVIDER names. Throws if there is none.
    func session(_ arguments: ParsedArguments, with token: StoredSession.Token = .access) async throws -> HostSession {
        let configuration = try configuration(arguments)
        guard token == .id || !configuration.usesDPoP && !configuration.findsServerByAccount else {
            throw CommandFailure(
                .refused, "helper.bound-token",
                "access tokens of \(configuration.name) work only with a key that stays in the store",
                hint: "send requests with `latchkey request`")
        }
        let user = arguments.value(SignInOptions.account)
        if let session = try await session(at: configuration, user: user, openView(), token) { return session }
        throw await absence(
            SignInError(.notSignedIn), configuration, user.flatMap { HostSession.namesAnyone($0) ? nil : $0 })
    }

    private func session(
        at configuration: ProviderConfiguration, user: String?, _ view: StoreView,
        _ token: StoredSession.Token = .access
    ) async throws -> HostSession? {
        let sessions = try await sessions(configuration, in: view)
        let isMachine = configuration.grant != nil
        guard let account = isMachine ? configuration.name.text : try await account(user, sessions) else { return nil }
        let found = try await bearerSession(of: account, at: configuration, sessions, token)
        guard let kept = found else {
            guard isMachine else { return nil }
            try refresh(configuration.name, account, token)
            guard let made = try await bearerSession(of: account, at: configuration, sessions, token) else {
                return nil
            }
            return try HostSession(made, at: configuration, token)
        }
        if token == .id, kept.idToken == nil {
            throw CommandFailure(noIDTokenAt: configuration, SignInError(.noIDToken))
        }
        if kept.isFresh(at: .now(), token) { return try HostSession(kept, at: configuration, token) }
        let ended = Self.ended(configuration, user)
        guard kept.isRefreshable || isMachine else { throw ended }
        let error = failure(CommandFailure.self, of: try refresh(configuration.name, account, token))
        // The session that the worker or another process has stored. It isn't there if the server has ended it.
        guard let renewed = try await bearerSession(of: account, at: configuration, sessions, token) else {
            throw ended
        }
        if renewed.isUsable(at: .now(), token) { return try HostSession(renewed, at: configuration, token) }
        throw error ?? ended
    }

    /// The account of that name, else the current account, else the only one.
    private func account(_ user: String?, _ sessions: SessionStore) async throws -> String? {
        if let user, !HostSession.namesAnyone(user) {
            return try await sessions.accounts(deadline: deadline).first { $0.hasSameOctets(as: user) }
        }
        let found = try await sessions.accountsInUse(deadline: deadline)
        return found.count == 1 ? found[0] : nil
    }

    /// `nil` for what isn't a session of this provider's, or whose access token is of no use without its key.
    private func bearerSession(
        of account: String, at configuration: ProviderConfiguration, _ sessions: SessionStore,
        _ token: StoredSession.Token
    ) async throws -> StoredSession? {
        let provider = try configuration.provider()
        let kept: StoredSession?? = try await nilIf(
            \StoreError.isCorruption, awaiting: try await sessions.load(account, deadline: deadline))
        guard let kept, let session = kept, session.isOf(provider), token == .id || session.keyThumbprint == nil
        else { return nil }
        return session
    }

    /// Has a worker refresh a session, which outlives this process.
    private func refresh(
        _ provider: ProviderName, _ account: String, _ token: StoredSession.Token
    ) throws(CommandFailure) {
        let status = try WorkerProcess.runQuietly(
            ["token", provider.text, "--account=" + account] + (token == .id ? ["--id"] : []) + workerArguments)
        switch status {
        case ExitStatus.success.rawValue: return
        case ExitStatus.unavailable.rawValue, ExitStatus.tryAgain.rawValue:
            throw CommandFailure(
                status == ExitStatus.tryAgain.rawValue ? .tryAgain : .unavailable, "helper.not-refreshed",
                "can't refresh the session at \(provider): the server can't be reached, or fails",
                hint: "try again later, or see the details: latchkey token \(provider)")
        default:
            throw CommandFailure(
                status == ExitStatus.protocolError.rawValue ? .protocolError : .refused, "helper.not-refreshed",
                "can't refresh the session at \(provider)", hint: "see why: latchkey token \(provider)")
        }
    }

    /// - Parameter user: the account that the caller named.
    private static func ended(_ configuration: ProviderConfiguration, _ user: String?) -> CommandFailure {
        let name = configuration.name
        let account = user.flatMap { HostSession.namesAnyone($0) ? nil : $0 }
        return CommandFailure(
            .refused, "sign-in.session-ended", "your session at \(name) has ended",
            hint: configuration.grant == nil
                ? "latchkey sign-in \(name)\(Account.option(account))" : "see why: latchkey token \(name)")
    }
}
