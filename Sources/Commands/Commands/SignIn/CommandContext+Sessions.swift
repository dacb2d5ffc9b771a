internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn

// Errors of sessions with the provider and the available accounts: the libraries know neither the commands nor the rest
// of the store.

extension CommandContext {
    /// Does a command's work with a session.
    ///
    /// - Parameter account: the one that the command line names.
    func explaining<Result: ~Copyable>(
        _ configuration: ProviderConfiguration, account: String?, _ work: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await work()
        } catch let error as SignInError {
            throw await explained(error, configuration, account)
        }
    }

    private func explained(
        _ error: SignInError, _ configuration: ProviderConfiguration, _ account: String?
    ) async -> CommandFailure {
        let name = configuration.name
        switch error.code {
        case .sessionEnded:
            return CommandFailure(ended: configuration, account, error, "")
        case .refreshLost:
            return CommandFailure(
                ended: configuration, account, error,
                ": an earlier refresh didn't complete, so its tokens weren't stored")
        case .oauth(let cause)
        where configuration.grant == nil && cause.code == .exchangeFailed(statusCode: 400) && cause.saysNoMore:
            // Some servers respond with nothing more to an unknown refresh token.
            return CommandFailure(
                error,
                "your session at \(name) has probably ended: the server refused to refresh it (status 400)",
                hint: "run `latchkey sign-in \(name)\(Account.option(account))`")
        case .noIDToken: return CommandFailure(noIDTokenAt: configuration, error)
        case .notSignedIn: return await absence(error, configuration, account)
        case .noCurrentAccount:
            return CommandFailure(
                error,
                hint: "add --account, or run `latchkey use \(name) ACCOUNT`: \(await names(configuration))")
        default: return CommandFailure(error, hint: error.hint?.worded(provider: "\(name)"))
        }
    }

    /// No account is signed in, or not the requested one, or no longer.
    func absence(
        _ error: SignInError, _ configuration: ProviderConfiguration, _ account: String?
    ) async -> CommandFailure {
        let name = configuration.name
        let hint: LogMessage =
            configuration.grant == nil
            ? "to sign in, run `latchkey sign-in \(name)`" : "to get a token, run `latchkey token \(name)`"
        let ended = (try? await sessions(configuration).endedSessions()) ?? []
        if ended.contains(where: { account == nil || $0.account.hasSameOctets(as: account ?? "") }) {
            return CommandFailure(ended: configuration, account, SignInError.ended, "")
        }
        guard let account else {
            return CommandFailure(
                error, "no account is signed in at \"\(name)\"", hint: hint)
        }
        let names = await names(configuration)
        return CommandFailure(
            error, "account \"\(Account(account))\" isn't signed in at \"\(name)\"",
            hint: names.text.isEmpty ? hint : "signed in there: \(names)")
    }

    /// The accounts that there are, as far as they can be read.
    private func names(_ configuration: ProviderConfiguration) async -> LogMessage {
        let accounts = (try? await sessions(configuration).accounts(deadline: deadline)) ?? []
        return .joined(accounts.map { "\(Account($0))" })
    }

    func sessions(_ configuration: ProviderConfiguration, in view: StoreView? = nil) async throws -> SessionStore {
        SessionStore(
            store: try await store(of: configuration, in: view), provider: configuration.name.text, leases: .standard)
    }
}

extension SignInError {
    fileprivate static let ended = SignInError(.sessionEnded)
}

extension CommandFailure {
    init(noIDTokenAt configuration: ProviderConfiguration, _ error: SignInError) {
        let provider = configuration.name
        guard configuration.grant == nil else {
            self.init(
                error, "\(provider) gives this machine no ID token",
                hint: "use a provider that a person signs in at, or the access token")
            return
        }
        self.init(
            error, "your session at \(provider) has no valid ID token",
            hint: "sign in with the scope openid: latchkey sign-in \(provider) --scope openid --scope …")
    }

    /// - Parameter account: the one that the command line names, which the next sign-in is to be for as well. Without
    ///   one the server says who signs in: another person must not get the ended session's name.
    fileprivate init(
        ended configuration: ProviderConfiguration, _ account: String?, _ error: SignInError, _ why: LogMessage
    ) {
        let name = configuration.name
        self.init(
            error, "your session at \(name) has ended\(why)",
            hint: "run `latchkey sign-in \(name)\(Account.option(account))`")
    }
}

// MARK: - Roles

extension CommandContext {
    /// Seconds before the end of kept credentials when others are requested.
    private static let roleMargin: Int64 = 300

    /// The temporary credentials that AWS gives for the ID token of a session, for `helper aws`.
    ///
    /// - Parameter endpoint: AWS's own service unless told otherwise.
    func roleCredentials(
        _ role: String, at endpoint: String?, provider: String, _ arguments: ParsedArguments
    ) async throws -> Secret<RoleCredentials> {
        guard SecurityTokenService.isRole(role) else {
            throw CommandFailure(
                .usage, "helper.role", "--role-arn isn't the ARN of a role",
                hint: "write it as AWS shows it, such as arn:aws:iam::123456789012:role/deploy")
        }
        guard let url = try? HTTPURL(endpoint ?? "https://sts.amazonaws.com"), url.isConfidential else {
            throw CommandFailure(
                .usage, "helper.endpoint", "--sts-endpoint isn't an HTTPS or loopback URL",
                hint: "write an address such as https://sts.eu-central-1.amazonaws.com")
        }
        let configuration = try configuration(named: provider)
        let wanted = arguments.value(SignInOptions.account)
        if !WorkerProcess.isThis {
            let silent = askingNobody
            if let sessions = try? await silent.sessions(configuration),
                let account = try? await silent.service(configuration, arguments).resolve(wanted),
                let kept = try? await silent.keptCredentials(Self.key(role, at: url, account, sessions), sessions)
            {
                return kept
            }
            // The network, a question, or what is wrong: one process says it all.
            ChildProcess.end(like: try WorkerProcess.run())
        }
        return try await explaining(configuration, account: wanted) {
            let service = try await service(configuration, arguments)
            let account = try await service.resolve(wanted)
            let sessions = try await sessions(configuration)
            let key = try Self.key(role, at: url, account, sessions)
            // One process asks; the others wait, and find its answer.
            let lease = try await sessions.store.exclusiveAccess(to: key, in: .standard, deadline: deadline)
            if let kept = try await keptCredentials(key, sessions) { return kept }
            let session = try await service.settling {
                try await service.freshSession(account, with: .id, deadline: deadline)
            }
            guard let token = session.bearer(.id) else { throw SignInError(.noIDToken) }
            let new = try await SecurityTokenService(
                endpoint: url, http: http(configuration, arguments), log: logger.category("latchkey.oauth")
            ).credentials(ofRole: role, for: account, by: token, timeout: deadline.remaining)
            try await sessions.store.save(
                new, for: key,
                options: SaveOptions(label: "AWS role of \(account) at \(configuration.name)", contentType: .text),
                deadline: deadline)
            // A sign-out deletes the session, then the roles that it finds. The sign-out may have looked before this
            // role was stored.
            guard try await sessions.load(account, deadline: deadline) != nil else {
                try await sessions.store.delete(key, condition: .none, deadline: deadline)
                throw SignInError(.notSignedIn)
            }
            lease.release()
            return new
        }
    }

    /// The key of a role's stored credentials. A sign-out deletes them with the session.
    private static func key(
        _ role: String, at endpoint: HTTPURL, _ account: String, _ sessions: SessionStore
    ) throws -> CredentialKey {
        let digest = SHA256.digest(Array("\(role) \(endpoint.text)".utf8).span)
        let name = SessionStore.roleKindPrefix + Hexadecimal.encode(Array(digest.prefix(8)))
        guard let kind = CredentialKind(name) else { preconditionFailure("a kind in the source is malformed") }
        return try sessions.key(account, kind: kind)
    }

    private func keptCredentials(
        _ key: CredentialKey, _ sessions: SessionStore
    ) async throws -> Secret<RoleCredentials>? {
        guard
            let record = try await sessions.store.read(key, as: RoleCredentials.self, deadline: deadline),
            let end = RoleCredentials.end(of: record.secret),
            end.seconds > UnixTime.now().advanced(bySeconds: Self.roleMargin).seconds
        else { return nil }
        return record.takeSecret()
    }
}
