internal import Credentials
public import HTTPTransport
internal import OAuth
internal import RedactedLog
internal import Secrets

extension SignInService {
    /// Sends a request with an account's access token, and once more with a renewed one when the server answers 401.
    ///
    /// Where the session is bound to a key, each request carries a proof of it.
    ///
    /// The answer is returned whatever its status; a 401 that stays, too. The token goes to the request's own address and
    /// nowhere else: redirects are not followed. Where the session names the one server that its tokens are for, another is
    /// refused: `.otherResource`. Throws as `accessToken` does, or `.oauth` with `.networkError`.
    public func send(
        _ request: consuming HTTPRequest, account: String? = nil, limits: HTTPLimits = HTTPLimits()
    ) async throws(SignInError) -> HTTPResponse {
        let name = try await resolve(account)
        let session = try await freshSession(name)
        if let resource = session.resource, request.url.origin != resource { throw SignInError(.otherResource) }
        let response = try await send(request, session, limits)
        guard response.status == 401 else { return response }
        do throws(SignInError) {
            guard try await self.session(of: name).refreshToken != nil else { return response }
            log.info("the server refused the access token; the session is renewed")
            try await renew(name, refused: RefusedToken(session.accessToken.duplicate()), deadline: .standard)
        } catch {
            if error.code == .sessionEnded || error.code == .cancelled { throw error }
            log.info("the session could not be renewed: \(error)")
            return response
        }
        return try await send(request, try await freshSession(name), limits)
    }

    private func send(
        _ request: borrowing HTTPRequest, _ session: borrowing StoredSession, _ limits: HTTPLimits
    ) async throws(SignInError) -> HTTPResponse {
        let resource = ResourceClient(http: context.http, dpop: try await signer(of: session), log: log)
        do throws(OAuthError) {
            return try await resource.send(request, token: session.accessToken, limits: limits)
        } catch {
            throw .oauth(error)
        }
    }
}
