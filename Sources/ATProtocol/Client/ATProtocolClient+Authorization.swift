public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
public import LatchkeySignIn

extension ATProtocolClient {
    // MARK: - In one call

    /// Signs an account in through a user agent, keeps its session, and makes it the current one.
    ///
    /// The session is kept under the handle, or under the DID when that was given. Throws
    /// `.authorizationInProgress` while another authorization goes on.
    ///
    /// - Parameters:
    ///   - handle: a handle or a DID.
    ///   - deadline: when to stop waiting for the person.
    @discardableResult
    public func authenticate(
        handle: String, presenting agent: any UserAgent, deadline: Deadline
    ) async throws(ATProtocolError) -> SessionSummary {
        try await authenticate(handle) { service, account throws(SignInError) in
            try await service.signIn(presenting: agent, account: account, deadline: deadline)
        }
    }

    /// The same in the way that suits the session it runs in; see `SignInService.signIn(by:)`.
    @discardableResult
    public func authenticate(
        handle: String, by methods: SignInMethods, deadline: Deadline
    ) async throws(ATProtocolError) -> SessionSummary {
        try await authenticate(handle) { service, account throws(SignInError) in
            try await service.signIn(by: methods, account: account, deadline: deadline)
        }
    }

    /// The same through an adopter's own user interface; it answers `nil` when the person gives up, which becomes
    /// `.authorizationCancelled`.
    @discardableResult
    public func authenticate(
        handle: String, using presenter: any AuthorizationPresenter, deadline: Deadline
    ) async throws(ATProtocolError) -> SessionSummary {
        do throws(ATProtocolError) {
            return try await authenticate(
                handle: handle, presenting: PresentingUserAgent(presenter: presenter), deadline: deadline)
        } catch {
            let failed = SignInError(.userAgent(UserAgentError(.unavailable(.pageFailed))))
            throw error.code == .signIn(failed) ? ATProtocolError(.presenterFailed) : error
        }
    }

    private func authenticate(
        _ handle: String,
        _ signIn: (SignInService, _ account: String) async throws(SignInError) -> SessionSummary
    ) async throws(ATProtocolError) -> SessionSummary {
        let identifier = try AccountIdentifier(handle)
        guard !isAuthenticating else { throw ATProtocolError(.authorizationInProgress) }
        isAuthenticating = true
        defer { isAuthenticating = false }
        try await refuseWhilePending()
        let destination = try await destination(of: identifier)
        let service = try service(for: destination)
        do throws(SignInError) {
            let summary = try await signIn(service, destination.account)
            keep(service, for: summary.account)
            return summary
        } catch {
            throw .signIn(error)
        }
    }

    func service(for destination: Destination) throws(ATProtocolError) -> SignInService {
        do throws(OAuthError) {
            let provider = try provider(
                .endpoints(destination.server), clientID: destination.clientID, subject: destination.did.text,
                resource: destination.resource)
            return SignInService(provider: provider, store: store, context: context)
        } catch {
            throw .oauth(error)
        }
    }
}
