internal import LatchkeyJSON
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

/// Tells a server that tokens are no longer wanted, in the way that the provider has.
struct TokenRevoker: Sendable {
    let provider: OAuthProvider
    let server: AuthorizationServerMetadata
    let http: any HTTPTransport
    let dpop: DPoPProofSigner?
    let log: RedactedLogger
    /// Of each request.
    var timeout = TransferLimits().timeout

    /// Returns `.revoked` or `.unsupported`.
    func revoke(
        _ tokens: IssuedTokens, authentication: borrowing ClientAuthentication,
        secret: borrowing Secret<ClientSecret>?
    ) async throws(OAuthError) -> SignOutReport.Revocation {
        switch provider.revocation {
        case .unavailable:
            return .unsupported
        case .gitHub(let api):
            switch secret {
            case .some(let secret):
                switch tokens.accessToken {
                case .some(let token): return try await revokeAtGitHub(token, api: api, secret: secret)
                case .none: return .unsupported
                }
            case .none: return .unsupported
            }
        case .standard:
            let client = try provider.client
            guard
                let endpoint = RevocationEndpoint(
                    server: server, client: client, http: http, dpop: dpop, log: log, timeout: timeout)
            else { return .unsupported }
            try await endpoint.revoke(tokens, authentication: authentication)
            return .revoked
        }
    }

    /// Revokes tokens that are refused, and says in the log what came of it.
    func revoke(_ tokens: IssuedTokens, _ authentication: borrowing ClientAuthentication) async {
        do throws(OAuthError) {
            let secret = authentication.duplicateSecret()
            switch try await revoke(tokens, authentication: authentication, secret: secret) {
            case .revoked: log.info("they are revoked")
            default: log.warning("they could not be revoked: the server has no way for it")
            }
        } catch {
            log.warning("they could not be revoked: \(error)")
        }
    }

    /// `DELETE /applications/{client_id}/token`: 204; 422 for a token that GitHub doesn't know any more.
    private func revokeAtGitHub(
        _ accessToken: borrowing Secret<AccessToken>, api: HTTPURL, secret: borrowing Secret<ClientSecret>
    ) async throws(OAuthError) -> SignOutReport.Revocation {
        let path = api.path == "/" ? "" : api.path
        let url = try mapError(
            { (_: InvalidValue) in OAuthError(.invalidConfiguration(.clientID)) },
            of: HTTPURL("\(api.origin)\(path)/applications/\(provider.clientID)/token"))
        var request = GuardedRequest(.delete, url, fields: ResourceFields.json)
        try mappingError(OAuthError.unwritable) {
            () throws(JSONError) in
            var body = JSONWriter()
            try body.member("access_token", secret: accessToken)
            request.body = try body.finish(as: MessageBody.self)
        }
        try request.authorize(clientID: provider.clientID, secret: secret, formEncoded: false)
        let status: Int
        do throws(TransportError) {
            status = try await http.send(request, limits: TransferLimits(timeout: timeout)).status
        } catch {
            throw .network(error)
        }
        log.debug("revocation at GitHub: status \(status)")
        guard status == 204 || status == 422 else { throw OAuthError(.revocationFailed(statusCode: status)) }
        return .revoked
    }
}

/// Fields of requests to resources.
enum ResourceFields {
    static let json = ["Accept", "Content-Type"].map { name in
        guard let field = HeaderField(name, "application/json") else {
            preconditionFailure("a field in the source is malformed")
        }
        return field
    }
}
