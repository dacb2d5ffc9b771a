public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
public import LatchkeySignIn
internal import LatchkeySystem

extension ATProtocolClient {
    // MARK: - In one call

    /// Signs an account in, keeps its session, and makes it the current one.
    ///
    /// The session is kept under the handle, or under the DID when that was given. Throws
    /// `.authorizationInProgress` while another authorization goes on, and `.presenterFailed` when the caller's own
    /// user interface did.
    ///
    /// - Parameters:
    ///   - handle: a handle or a DID.
    ///   - agent: what the person signs in with.
    ///   - deadline: when to stop waiting for the person.
    @discardableResult
    public func authenticate(
        handle: String, presenting agent: UserAgent, deadline: Deadline
    ) async throws(ATProtocolError) -> SessionSummary {
        do throws(ATProtocolError) {
            return try await authenticate(handle) { service, account throws(SignInError) in
                try await service.signIn(presenting: agent, account: account, deadline: deadline)
            }
        } catch {
            let failed = SignInError(.userAgent(UserAgentError(.unavailable(.pageFailed))))
            throw agent.isPresenter && error.code == .signIn(failed) ? ATProtocolError(.presenterFailed) : error
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
        return try await mappingError(ATProtocolError.signIn) { () async throws(SignInError) in
            let summary = try await signIn(service, destination.account)
            keep(service, for: summary.account)
            return summary
        }
    }

    func service(for destination: Destination) throws(ATProtocolError) -> SignInService {
        return try mappingError(ATProtocolError.oauth) { () throws(OAuthError) in
            let provider = try provider(
                .endpoints(destination.server), clientID: destination.clientID, subject: destination.did.text,
                resource: destination.resource)
            return SignInService(provider: provider, store: store, context: context)
        }
    }
}
