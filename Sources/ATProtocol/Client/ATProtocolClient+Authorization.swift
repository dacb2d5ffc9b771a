public import Credentials
internal import OAuth
internal import RedactedLog
internal import Secrets
public import SignIn

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
        let identifier = try AccountIdentifier(handle)
        guard !isAuthenticating else { throw ATProtocolError(.authorizationInProgress) }
        isAuthenticating = true
        defer { isAuthenticating = false }
        try await refuseWhilePending()
        let destination = try await destination(of: identifier)
        let service = try service(for: destination)
        do throws(SignInError) {
            let summary = try await service.signIn(
                presenting: agent, account: destination.account, deadline: deadline)
            keep(service, for: summary.account)
            return summary
        } catch {
            if agent is PresentingUserAgent, case .userAgent(let cause) = error.code,
                cause.code == .unavailable(.pageFailed)
            {
                throw ATProtocolError(.presenterFailed)
            }
            throw .signIn(error)
        }
    }

    /// The same through an adopter's own user interface; it answers `nil` when the person gives up, which becomes
    /// `.authorizationCancelled`.
    @discardableResult
    public func authenticate(
        handle: String, using presenter: any AuthorizationPresenter, deadline: Deadline
    ) async throws(ATProtocolError) -> SessionSummary {
        try await authenticate(
            handle: handle, presenting: PresentingUserAgent(presenter: presenter), deadline: deadline)
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
