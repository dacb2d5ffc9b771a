internal import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeySignIn

/// Sends requests with a login's token, and manages the login: signs in if necessary, refreshes the login before it
/// ends, and does both if a server refuses the token.
///
///     let authenticator = try OAuthAuthenticator(config: configuration)
///     let response = try await authenticator.response(for: GuardedRequest(.get, url))
///
/// Tasks that need a sign-in share one, so the person gets one
/// question. The sign-in ends with the last waiting task. Everything else works as in `SignInService`: a refresh
/// happens once among all tasks and processes and is stored before it is used. Every error is an
/// ``OAuthAuthenticator/Failure``, which doesn't contain a secret.
public actor OAuthAuthenticator {
    /// The settings.
    public nonisolated let configuration: Configuration
    nonisolated let service: SignInService
    private var attempt: Attempt?

    /// Nothing is read or sent yet. Throws `.signIn(.store)` when the kernel gives no memory for a login without
    /// storage.
    public init(config: Configuration) throws(Failure) {
        let provider = config.tokens.applied(to: config.provider)
        let store: any CredentialStore = try mapError(
            { (error: StoreError) in Failure.signIn(.store(error)) }, of: config.storage.open())
        configuration = config
        service = SignInService(
            provider: provider,
            sessions: SessionStore(store: store, provider: provider.name, leases: config.context.leases),
            context: config.context, identify: nil, steps: config.tokens.steps(clientSecret: config.clientSecret))
    }

    nonisolated var log: RedactedLogger { configuration.context.log }

    // MARK: - The login

    /// Returns the public part of the login, or `nil` if there is none. Asks no question.
    ///
    /// Throws `.signIn` if the store can't be read, or if none of its logins is the current one.
    public func login() async throws(Failure) -> SessionSummary? {
        do throws(SignInError) {
            return try await service.session(of: try await account()).summary
        } catch {
            if error.code == .notSignedIn { return nil }
            throw .signIn(error)
        }
    }

    /// Revokes the tokens, and deletes the login even if the server can't be reached.
    @discardableResult
    public func signOut() async -> SignOutReport { await service.signOut(configuration.account) }

    /// Waits until refreshes that are going on have ended; see `SignInService.finishRefreshes`.
    public func finishRefreshes() async { await service.finishRefreshes() }

    func account() async throws(SignInError) -> String { try await service.resolve(configuration.account) }

    /// The session and its key, refreshed first if it ends soon. Doesn't ask a person.
    func freshSession() async throws(SignInError) -> StoredSession {
        let session = try await service.freshSession(try await account())
        // A session without its key is useless.
        _ = try await service.signer(of: session)
        return session
    }

    /// The same; the person signs in first if necessary and permitted.
    func usableSession() async throws(Failure) -> StoredSession {
        do throws(SignInError) {
            return try await freshSession()
        } catch {
            guard Self.needsPerson(error) else { throw .signIn(error) }
            log.info("the user has to sign in: \(error)")
        }
        try await authenticateUnasked()
        return try await mapError(Failure.signIn, awaiting: await freshSession())
    }

    static func needsPerson(_ error: SignInError) -> Bool {
        switch error.code {
        case .notSignedIn, .sessionEnded, .refreshLost, .keyLost: true
        default: false
        }
    }

    // MARK: - Signing in

    /// Signs the person in now, in either mode, and returns the public part of the login.
    ///
    /// Joins a running sign-in. Throws `.noUserAuthenticator`, `.signIn`, or `.cancelled`. The sign-in ends if the task
    /// is cancelled and no other task waits.
    @discardableResult
    public func authenticate() async throws(Failure) -> SessionSummary {
        let attempt = runningAttempt()
        attempt.waiting += 1
        let result = await attempt.outcome.valueUnlessCancelled()
        attempt.waiting -= 1
        guard let result else {
            if attempt.waiting == 0 {
                attempt.task?.cancel()
                if self.attempt === attempt { self.attempt = nil }
            }
            throw .cancelled
        }
        return try result.get()
    }

    /// Signs a person in because a request needs it.
    func authenticateUnasked() async throws(Failure) {
        guard configuration.mode == .automatic else { throw Failure(.loginRequired) }
        try await authenticate()
    }

    /// A sign-in that any number of tasks wait for.
    private final class Attempt {
        let outcome = Pending<Result<SessionSummary, Failure>>()
        var task: Task<Void, Never>?
        var waiting = 0
    }

    /// How many tasks wait for the running sign-in.
    var waiting: Int { attempt?.waiting ?? 0 }

    private func runningAttempt() -> Attempt {
        if let attempt { return attempt }
        let attempt = Attempt()
        self.attempt = attempt
        attempt.task = Task {
            let result: Result<SessionSummary, Failure>
            do throws(Failure) {
                result = .success(try await signIn())
            } catch {
                result = .failure(error)
            }
            if self.attempt === attempt { self.attempt = nil }
            await tell(result)
            attempt.outcome.complete(result)
        }
        return attempt
    }

    private func signIn() async throws(Failure) -> SessionSummary {
        guard configuration.userAuthenticator.isAvailable else { throw Failure(.noUserAuthenticator) }
        return try await mapError(
            Failure.signIn,
            awaiting: await service.signIn(
                presenting: configuration.userAuthenticator, account: configuration.account,
                deadline: .after(configuration.timeout)))
    }

    private func tell(_ result: Result<SessionSummary, Failure>) async {
        guard let handler = configuration.statusHandler else { return }
        switch result {
        case .success(let summary): await handler(.signedIn(summary))
        case .failure(let error): await handler(.failed(error))
        }
    }
}
