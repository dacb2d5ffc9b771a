package import LatchkeyCredentials
package import LatchkeyHTTP
internal import LatchkeyJSON
package import LatchkeyLog
public import LatchkeySecrets

/// Exchanges codes and refresh tokens at a server's token endpoint (RFC 6749 sections 4.1.3 and 6).
public struct TokenEndpoint: Sendable {
    package let server: AuthorizationServerMetadata
    package let client: ClientConfiguration
    let endpoint: EndpointClient
    let signingKeys: SigningKeys
    /// In place of the server's revocation endpoint.
    package var revokes: Revoking?
    /// Whether ID tokens of device codes and refreshes are read.
    package var expectsIDToken: Bool
    private let now: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - dpop: the signer of the key that tokens are, or will be, bound to (RFC 9449 section 5).
    ///   - signingKeys: the cache of servers' public keys, which check ID tokens.
    ///   - now: the clock that ID tokens are checked against, unless the server's `Date` says what its own is.
    package init(
        server: AuthorizationServerMetadata, client: ClientConfiguration, http: any HTTPTransport,
        dpop: DPoPProofSigner? = nil,
        signingKeys: SigningKeys = SigningKeys(), log: RedactedLogger = .disabled,
        now: @escaping @Sendable () -> UnixTime = UnixTime.now
    ) {
        self.server = server
        self.client = client
        expectsIDToken = client.scopes.includesOpenID
        self.signingKeys = signingKeys
        self.now = now
        endpoint = EndpointClient(
            clientID: client.clientID, http: server.transport(http), dpop: dpop, log: log, finishesWhatIsSent: true,
            // Servers of resources, such as those of the MCP's own library, want it beside Basic credentials too.
            alwaysNamesClient: client.resource != nil)
    }

    /// Exchanges an authorization code for tokens.
    ///
    /// Throws `.exchangeFailed` for a status other than 2xx and for a response with an `error` whatever its status,
    /// `.networkError` if no complete response arrives, and `.invalidResponse` if the response can't be used. The
    /// tokens of such a response are revoked, if the server has an endpoint for that. Cancelling the task has no effect
    /// once the code is sent: tokens that arrive are returned.
    public func exchange(
        _ callback: consuming ValidatedCallback, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) -> TokenResponse {
        guard callback.request.server == server, callback.request.client.clientID == client.clientID,
            callback.request.keyThumbprint == endpoint.dpop?.thumbprint
        else {
            throw OAuthError(.invalidConfiguration(.otherServer))
        }
        let response = try await endpoint.post(
            server.tokenEndpoint, try callback.parameters(), authentication: authentication)
        let (basicForm, reader) = (response.basicForm, reader(at: response.date))
        let document = try Self.success(response)
        return try await orRevoked(document, authentication, basicForm) { () async throws(OAuthError) in
            let tokens = try reader.tokens(in: document, nonce: callback.nonce)
            try await checkSignature(of: tokens)
            return tokens
        }
    }

    /// Returns the tokens of a response, or revokes the tokens in it.
    func orRevoked(
        _ document: borrowing JSONDocument, without refreshToken: consuming Secret<RefreshToken>? = nil,
        _ authentication: borrowing ClientAuthentication, _ basicForm: ClientAuthentication.BasicForm?,
        _ tokens: () async throws(OAuthError) -> TokenResponse
    ) async throws(OAuthError) -> TokenResponse {
        do throws(OAuthError) {
            var tokens = try await tokens()
            tokens.acceptedBasicForm = basicForm
            return tokens
        } catch {
            await revoke(tokensIn: document, without: refreshToken, authentication, basicForm)
            throw error
        }
    }

    /// Refreshes a session. If the response lacks a refresh token, the old one stays (RFC 6749 section 6).
    ///
    /// Throws `.sessionEnded` if the server responds with `invalid_grant` or a similar error and a status below 500;
    /// otherwise throws as `exchange`. After any other error the session may still be valid: some servers respond with a
    /// bare 400 both to an old token and to a wrong client secret.
    ///
    /// This method doesn't wait for the network once the server has responded: the old refresh token may be spent, so
    /// store the new one first. The claims of an ID token are checked here, its signature later. Cancelling the task
    /// has no effect once the refresh token is sent.
    ///
    /// - Parameters:
    ///   - token: the refresh token, lent.
    ///   - subject: the `sub` of the session's ID token; an ID token for another user is refused.
    ///   - authentication: the client's authentication, lent.
    public func refresh(
        _ token: borrowing Secret<RefreshToken>, subject: String? = nil, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) -> TokenResponse {
        var form = FormBody()
        try form.append("grant_type", text: "refresh_token")
        try form.append("refresh_token", secret: token)
        if let resource = client.resource { try form.append("resource", text: resource) }
        let response = try await endpoint.post(server.tokenEndpoint, form, authentication: authentication)
        switch response.error {
        // A server that fails has judged nothing.
        case _ where response.status >= 500: break
        case .invalidGrant, .badRefreshToken, .expiredToken:
            throw OAuthError(.sessionEnded, serverError: response.error)
        default: break
        }
        let (basicForm, reader) = (response.basicForm, reader(at: response.date))
        let document = try Self.success(response)
        return try await orRevoked(document, without: token.duplicate(), authentication, basicForm) {
            () async throws(OAuthError) in
            try reader.refreshedTokens(
                in: document, after: token, subject: subject, openID: expectsIDToken)
        }
    }

    /// - Parameter date: the time of the response by the server's clock. The server wrote the ID token's times, and its
    ///   clock comes over the same connection, while ours may be a day off. A clock that is two days off is ignored.
    func reader(at date: UnixTime?) -> TokenResponseReader {
        let ours = now()
        let isCredible = date.map { $0.seconds(since: ours).magnitude <= DPoPNonceCache.maximumSkew } ?? false
        return TokenResponseReader(
            server: server, clientID: client.clientID, isBound: endpoint.dpop != nil,
            now: isCredible ? date ?? ours : ours)
    }

    static func success(_ response: consuming EndpointResponse) throws(OAuthError) -> JSONDocument {
        guard response.isSuccess else {
            throw response.failure
        }
        guard let document = response.document else { throw OAuthError(.invalidResponse(.notJSON)) }
        return document
    }
}

// MARK: - Revoking

// Refused tokens must not stay valid at the server, where no program would know of them (RFC 7009 section 1).

extension TokenEndpoint {
    /// Revokes tokens in the provider's own way, and says in the log what came of it.
    package typealias Revoking = @Sendable (IssuedTokens, consuming ClientAuthentication) async -> Void

    /// How long each request that revokes tokens may take.
    package static let timeoutOfRevocation = Duration.seconds(10)

    /// Revokes what a response brought that can't be used.
    func revoke(
        tokensIn document: borrowing JSONDocument, without old: borrowing Secret<RefreshToken>?,
        _ authentication: borrowing ClientAuthentication, _ form: ClientAuthentication.BasicForm?
    ) async {
        guard let tokens = IssuedTokens(in: document, without: old) else { return }
        await revoke(tokens, authentication, form)
    }

    /// Gives back tokens that a check of the caller's refused.
    ///
    /// - Parameter old: the refresh token from before a refresh, which stays what it is.
    package func revoke(
        _ tokens: borrowing TokenResponse, without old: borrowing Secret<RefreshToken>? = nil,
        _ authentication: borrowing ClientAuthentication
    ) async {
        await revoke(IssuedTokens(tokens, without: old), authentication, tokens.acceptedBasicForm)
    }

    /// Best effort, in a separate task: cancelling the caller doesn't stop the revocation.
    private func revoke(
        _ tokens: IssuedTokens, _ authentication: borrowing ClientAuthentication,
        _ form: ClientAuthentication.BasicForm?
    ) async {
        let log = endpoint.log
        log.warning("refused the tokens that the server has just issued; revoking them")
        let proof = Handover(authentication.duplicate(form: form))
        let revocation =
            revokes == nil
            ? RevocationEndpoint(
                server: server, client: client, http: endpoint.http, dpop: endpoint.dpop, log: log,
                timeout: Self.timeoutOfRevocation) : nil
        await Task { [revokes] in
            guard let authentication = proof.take() else { return }
            if let revokes { return await revokes(tokens, authentication) }
            guard let revocation else {
                return log.warning("can't revoke the tokens: the server lacks an endpoint for revocation")
            }
            do throws(OAuthError) {
                try await revocation.revoke(tokens, authentication: authentication)
                log.info("revoked the tokens")
            } catch {
                log.warning("can't revoke the tokens: \(error)")
            }
        }.value
    }

    /// Checks tokens that a step of the caller's own brought as those of a response are; others are revoked.
    ///
    /// Throws `.invalidResponse`: `.tokenNotBound` for unbound tokens if a key was requested, `.unknownTokenType` for
    /// bound tokens if none was, and `.malformedToken` for a token that no request can carry.
    package func check(
        of tokens: borrowing TokenResponse, without old: borrowing Secret<RefreshToken>? = nil,
        _ authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) {
        let isBound = tokens.type == .dpop
        let problem: OAuthError.Malformation
        if isBound == (endpoint.dpop != nil) {
            guard !tokens.isWellFormed else { return }
            problem = .malformedToken
        } else {
            problem = isBound ? .unknownTokenType : .tokenNotBound
        }
        await revoke(tokens, without: old, authentication)
        throw OAuthError(.invalidResponse(problem))
    }
}
