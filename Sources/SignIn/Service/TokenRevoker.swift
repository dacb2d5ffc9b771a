internal import HTTPTransport
internal import OAuth
internal import RedactedLog
internal import Secrets

/// Tells a server that tokens are no longer wanted, in the way that the provider has.
struct TokenRevoker: Sendable {
    let provider: Provider
    let server: ServerMetadata
    let http: any HTTPClient
    let dpop: DPoPSigner?
    let log: Logger

    /// Revokes the refresh token first: with it gone, nothing new can be had. Returns `.revoked` or `.unsupported`.
    func revoke(
        _ accessToken: borrowing Secret<AccessToken>, _ refreshToken: borrowing Secret<RefreshToken>?,
        authentication: borrowing ClientAuthentication, secret: borrowing Secret<ClientSecret>?
    ) async throws(OAuthError) -> SignOutReport.Revocation {
        switch provider.revocation {
        case .unavailable:
            return .unsupported
        case .gitHub(let api):
            switch secret {
            case .some(let secret): return try await revokeAtGitHub(accessToken, api: api, secret: secret)
            case .none: return .unsupported
            }
        case .standard:
            let client = try provider.client
            guard
                let endpoint = RevocationEndpoint(server: server, client: client, http: http, dpop: dpop, log: log)
            else { return .unsupported }
            switch refreshToken {
            case .some(let refreshToken):
                try await endpoint.revoke(
                    refreshToken, bearer: accessToken.duplicate(), authentication: authentication)
                do throws(OAuthError) {
                    try await endpoint.revoke(accessToken, authentication: authentication)
                } catch {
                    // Many servers end the access token with its refresh token and then don't know it any more.
                    log.info("the refresh token is revoked; the access token was not: \(error)")
                }
            case .none:
                try await endpoint.revoke(accessToken, authentication: authentication)
            }
            return .revoked
        }
    }

    /// `DELETE /applications/{client_id}/token`: 204; 422 for a token that GitHub doesn't know any more.
    private func revokeAtGitHub(
        _ accessToken: borrowing Secret<AccessToken>, api: HTTPURL, secret: borrowing Secret<ClientSecret>
    ) async throws(OAuthError) -> SignOutReport.Revocation {
        var request: HTTPRequest
        do throws(HTTPURLError) {
            let path = api.path == "/" ? "" : api.path
            let url = try HTTPURL("\(api.origin)\(path)/applications/\(provider.clientID)/token")
            request = HTTPRequest(.delete, url, fields: ResourceFields.json)
        } catch {
            throw OAuthError(.invalidConfiguration(.clientID))
        }
        do throws(JSONError) {
            var body = JSONWriter()
            try body.member("access_token", secret: accessToken)
            request.body = try body.finish(as: MessageBody.self)
        } catch {
            throw OAuthError(.invalidConfiguration(.requestTooLarge))
        }
        try request.authorize(clientID: provider.clientID, secret: secret, formEncoded: false)
        let status: Int
        do throws(HTTPError) {
            status = try await http.send(request).status
        } catch {
            throw OAuthError(.networkError(error))
        }
        log.debug("revocation at GitHub: status \(status)")
        guard status == 204 || status == 422 else { throw OAuthError(.revocationFailed(statusCode: status)) }
        return .revoked
    }
}

/// Fields of requests to resources.
enum ResourceFields {
    static let json = ["Accept", "Content-Type"].map { name in
        guard let field = HTTPField(name, "application/json") else {
            preconditionFailure("a field in the source is malformed")
        }
        return field
    }
}
