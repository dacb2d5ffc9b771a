internal import LatchkeyHTTP
internal import LatchkeyJSON
public import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

/// The result of a sign-out. The session is deleted even if the server can't be reached.
public struct SignOutReport: Sendable, Hashable, Loggable, CustomStringConvertible {
    /// Whether the tokens are still good at the server (RFC 7009, or the provider's own way).
    public enum Revocation: Sendable, Hashable {
        /// The server has revoked the refresh token, or the access token if there is no refresh token. Nearly all
        /// servers revoke the access token with it; otherwise that token expires.
        case revoked
        /// The server can't revoke tokens; they expire, or can be revoked on a page of the service.
        case unsupported
        /// No session existed.
        case notNeeded
        /// The server didn't do it, or could not be reached: the tokens may still be good.
        case failed(SignInError)
    }

    /// Whether the session is still in the store.
    public enum Deletion: Sendable, Hashable {
        /// The session existed and was deleted.
        case deleted
        /// No session existed.
        case absent
        /// The session may still exist.
        case failed(SignInError)
    }

    /// The account, or `nil` if none was signed in or it couldn't be determined.
    public let account: String?
    /// The outcome of the revocation; `.notNeeded` also if the sign-out ended before the request to the server.
    public let revocation: Revocation
    /// The outcome of the deletion; `.failed` if the store refused, if the account couldn't be determined, if another
    /// process didn't finish a refresh in time, or if the task was cancelled before the request to the server.
    public let deletion: Deletion

    package init(account: String?, revocation: Revocation, deletion: Deletion) {
        self.account = account
        self.revocation = revocation
        self.deletion = deletion
    }

    /// Whether no session is left here.
    public var isSignedOut: Bool {
        switch deletion {
        case .deleted, .absent: true
        case .failed: false
        }
    }

    public var description: String { logMessage.text }

    /// Safe: fixed words, and errors that contain no secret.
    public var logMessage: LogMessage {
        let revocation: LogMessage =
            switch revocation {
            case .revoked: "the tokens were revoked"
            case .unsupported: "the server can't revoke tokens"
            case .notNeeded: "there was nothing to revoke"
            case .failed(let error): "the tokens were not revoked: \(error)"
            }
        let deletion: LogMessage =
            switch deletion {
            case .deleted: "the session was deleted"
            case .absent: "no session was stored"
            case .failed(let error): "the session was not deleted: \(error)"
            }
        return "\(revocation); \(deletion)"
    }
}

/// Revokes tokens at a server with the provider's method.
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
        guard provider.revokesReplacedTokens else { return log.info("the refused tokens weren't revoked") }
        do throws(OAuthError) {
            let secret = authentication.duplicateSecret()
            switch try await revoke(tokens, authentication: authentication, secret: secret) {
            case .revoked: log.info("revoked the tokens")
            default: log.warning("can't revoke the tokens: the server doesn't support revocation")
            }
        } catch {
            log.warning("can't revoke the tokens: \(error)")
        }
    }

    /// `DELETE /applications/{client_id}/token`: 204, or 422 for a token that GitHub no longer knows.
    private func revokeAtGitHub(
        _ accessToken: borrowing Secret<AccessToken>, api: HTTPURL, secret: borrowing Secret<ClientSecret>
    ) async throws(OAuthError) -> SignOutReport.Revocation {
        let path = api.path == "/" ? "" : api.path
        let url = try mapError(
            { (_: InvalidValue) in OAuthError(.invalidConfiguration(.clientID)) },
            of: HTTPURL("\(api.origin)\(path)/applications/\(provider.clientID)/token"))
        var request = GuardedRequest(.delete, url, fields: EndpointFields.jsonBody)
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
