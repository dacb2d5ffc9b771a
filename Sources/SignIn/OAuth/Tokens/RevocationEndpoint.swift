package import LatchkeyHTTP
package import LatchkeyLog

/// Revokes tokens (RFC 7009).
package struct RevocationEndpoint: Sendable {
    package let url: HTTPURL
    private let endpoint: EndpointClient

    /// Returns `nil` if the server lacks a revocation endpoint.
    ///
    /// - Parameters:
    ///   - dpop: the signer of the key that the tokens are bound to, if any.
    ///   - timeout: of each request.
    package init?(
        server: AuthorizationServerMetadata, client: ClientConfiguration, http: any HTTPTransport,
        dpop: DPoPProofSigner? = nil, log: RedactedLogger = .disabled, timeout: Duration = EndpointClient.limits.timeout
    ) {
        guard let url = server.revocationEndpoint else { return nil }
        self.url = url
        endpoint = EndpointClient(
            clientID: client.clientID, http: server.transport(http), dpop: dpop, log: log,
            limits: TransferLimits(
                maximumBodyByteCount: EndpointClient.limits.maximumBodyByteCount, timeout: timeout))
    }

    /// Revokes the refresh token first: with it gone, nothing new can be had.
    package func revoke(
        _ tokens: IssuedTokens, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) {
        switch tokens.refreshToken {
        case .some(let refreshToken):
            guard let accessToken = tokens.accessToken?.duplicate() else {
                return try await revoke(refreshToken, authentication: authentication)
            }
            if let error = await failure(
                OAuthError.self,
                awaiting: try await revoke(refreshToken, bearer: accessToken, authentication: authentication))
            {
                // A server that doesn't revoke a refresh token may revoke an access token.
                if case .networkError = error.code { throw error }
                try? await revoke(accessToken, authentication: authentication)
                throw error
            }
            if let error = await failure(
                OAuthError.self, awaiting: try await revoke(accessToken, authentication: authentication))
            {
                // Many servers have revoked the access token with its refresh token.
                endpoint.log.info("revoked the refresh token, but can't revoke the access token: \(error)")
            }
        case .none:
            guard let accessToken = tokens.accessToken?.duplicate() else { return }
            try await revoke(accessToken, authentication: authentication)
        }
    }

    /// Revokes a refresh token, and with it what was issued for it where the server does so.
    ///
    /// A token that the server doesn't know is revoked as far as anyone can tell: no error. Throws `.revocationFailed`
    /// or `.networkError`.
    package func revoke(
        _ token: borrowing Secret<RefreshToken>, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) {
        try Self.require(
            try await endpoint.post(url, try form(token, hint: "refresh_token"), authentication: authentication))
    }

    /// Revokes a refresh token; see `revoke(_:authentication:)`.
    ///
    /// - Parameter bearer: the session's access token. Some servers refuse public clients here but take this instead;
    ///   it is used after such a refusal alone.
    package func revoke(
        _ token: borrowing Secret<RefreshToken>, bearer: borrowing Secret<AccessToken>,
        authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) {
        try await revoke(token, hint: "refresh_token", bearer: bearer, authentication)
    }

    /// Revokes an access token; a public client that is refused proves itself with the token.
    package func revoke(
        _ token: borrowing Secret<AccessToken>, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) {
        try await revoke(token, hint: "access_token", bearer: token, authentication)
    }

    private func revoke<Purpose: SecretPurpose>(
        _ token: borrowing Secret<Purpose>, hint: String, bearer: borrowing Secret<AccessToken>,
        _ authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) {
        let response = try await endpoint.post(url, try form(token, hint: hint), authentication: authentication)
        guard !response.isSuccess else { return }
        guard response.status == 401, authentication.method == .none else { return try Self.require(response) }
        try Self.require(try await endpoint.post(url, try form(token, hint: hint), bearer: bearer))
    }

    private func form<Purpose: SecretPurpose>(
        _ token: borrowing Secret<Purpose>, hint: String
    ) throws(OAuthError) -> FormBody {
        var form = FormBody()
        try form.append("token", secret: token)
        try form.append("token_type_hint", text: hint)
        return form
    }

    private static func require(_ response: borrowing EndpointResponse) throws(OAuthError) {
        guard response.isSuccess else {
            throw OAuthError(.revocationFailed(statusCode: response.status), serverError: response.error)
        }
    }
}
