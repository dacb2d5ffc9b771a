internal import Credentials
public import HTTPTransport
internal import OAuth
internal import RedactedLog
internal import Secrets

extension SignInService {
    /// Sends a request with an account's access token, and once more with a renewed one when the server answers 401.
    ///
    /// The answer is returned whatever its status; a 401 that stays, too. The token goes to the request's own address and
    /// nowhere else: redirects are not followed. Throws as `accessToken` does, or `.oauth` with `.networkError`.
    public func send(
        _ request: consuming HTTPRequest, account: String? = nil, limits: HTTPLimits = HTTPLimits()
    ) async throws(SignInError) -> HTTPResponse {
        let name = try await resolve(account)
        let token = try await accessToken(for: name)
        let response = try await send(request, token, limits)
        guard response.status == 401 else { return response }
        do throws(SignInError) {
            guard try await session(of: name).refreshToken != nil else { return response }
            log.info("the server refused the access token; the session is renewed")
            try await renew(name, refused: RefusedToken(token.duplicate()), deadline: .standard)
        } catch {
            if error.code == .sessionEnded { throw error }
            log.info("the session could not be renewed: \(error)")
            return response
        }
        return try await send(request, try await accessToken(for: name), limits)
    }

    private func send(
        _ request: borrowing HTTPRequest, _ token: borrowing Secret<AccessToken>, _ limits: HTTPLimits
    ) async throws(SignInError) -> HTTPResponse {
        var copy = HTTPRequest(request.method, request.url, fields: request.fields, body: request.body?.duplicate())
        do throws(OAuthError) {
            try copy.authorize(bearer: token)
        } catch {
            throw .oauth(error)
        }
        do throws(HTTPError) {
            return try await context.http.send(copy, limits: limits)
        } catch {
            throw .oauth(OAuthError(.networkError(error)))
        }
    }
}
