internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import LatchkeyCommandLine

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
                ": an earlier refresh was interrupted before it could store its tokens")
        case .oauth(let cause) where cause.code == .exchangeFailed(statusCode: 400) && cause.saysNoMore:
            // Some servers respond with nothing more to an unknown refresh token.
            return CommandFailure(
                error,
                "your session at \(name) has probably ended: the server refused to refresh it (status 400)",
                hint: "run `latchkey sign-in \(name)`")
        case .noIDToken: return CommandFailure(noIDTokenAt: name, error)
        case .notSignedIn: return await absence(error, configuration, account)
        case .noCurrentAccount:
            return CommandFailure(
                error,
                hint: "add --account, or run `latchkey use \(name) ACCOUNT`: \(await names(configuration))")
        default: return CommandFailure(error, hint: error.hint?.worded(provider: "\(name)"))
        }
    }

    /// No account is signed in, or not the requested one, or no longer.
    private func absence(
        _ error: SignInError, _ configuration: ProviderConfiguration, _ account: String?
    ) async -> CommandFailure {
        let name = configuration.name
        let hint: LogMessage = "to sign in, run `latchkey sign-in \(name)`"
        let ended = (try? await sessions(configuration).endedSessions()) ?? []
        if ended.contains(where: { account == nil || $0.account.hasSameOctets(as: account ?? "") }) {
            return CommandFailure(ended: configuration, account, SignInError.ended, "")
        }
        guard let account else {
            return CommandFailure(
                error, "no account is signed in at \(name)", hint: hint)
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

    func sessions(_ configuration: ProviderConfiguration) async throws -> SessionStore {
        SessionStore(store: try await store(of: configuration), provider: configuration.name.text, leases: .standard)
    }
}

extension OAuthError {
    /// Whether the server's error leaves open what is wrong.
    fileprivate var saysNoMore: Bool {
        switch serverError {
        case nil, .invalidRequest, .other: true
        default: false
        }
    }
}

extension SignInError {
    fileprivate static let ended = SignInError(.sessionEnded)
}

extension CommandFailure {
    init(noIDTokenAt provider: ProviderName, _ error: SignInError) {
        self.init(
            error, "your session at \(provider) has no valid ID token",
            hint: "sign in with the scope openid: latchkey sign-in \(provider) --scope openid --scope …")
    }

    /// - Parameter account: the one that the command line names, which the next sign-in is to be for as well.
    fileprivate init(
        ended configuration: ProviderConfiguration, _ account: String?, _ error: SignInError, _ why: LogMessage
    ) {
        let name = configuration.name
        self.init(
            error, "your session at \(name) has ended\(why)",
            hint: account.map { "run `latchkey sign-in \(name) --account \(Account($0))`" }
                ?? "run `latchkey sign-in \(name)`")
    }
}
