internal import LatchkeyCredentials
internal import LatchkeyJSON
public import LatchkeySecrets
internal import LatchkeySystem

/// The tokens from a token endpoint (RFC 6749 section 5.1).
public struct TokenResponse: ~Copyable, Sendable {
    /// How a token is used (RFC 6749 section 7.1).
    public enum TokenType: Sendable, Hashable, CaseIterable {
        /// Any holder may use the token (RFC 6750).
        case bearer
        /// With a proof of the key that it is bound to (RFC 9449).
        case dpop
    }

    package let type: TokenType
    package let accessToken: Secret<AccessToken>
    /// The token to refresh with: the new one, or after a refresh without a new one the old one; `nil` when there is
    /// none.
    package let refreshToken: Secret<RefreshToken>?
    /// Checked (issuer, audience, expiry, nonce) and kept only when `openid` was requested.
    package let idToken: Secret<IDToken>?
    /// The `sub` of the ID token: who signed in, in the server's own terms.
    package let subject: String?
    /// The ID token's name of the account: `preferred_username`, otherwise `email`.
    package internal(set) var accountName: String?
    /// How long the access token lives from the response on, in seconds; `nil` when the server doesn't say.
    package let expiresInSeconds: Int64?
    /// How long the ID token lives from the response on, in seconds; `nil` without one.
    package internal(set) var idTokenExpiresInSeconds: Int64?
    /// The granted scopes; `nil` if the server doesn't report them, which means the requested ones (RFC 6749 section
    /// 5.1).
    package let grantedScopes: ScopeList?
    /// The response's own `sub`, which AT Protocol's servers send: whose tokens these are, in the word of the server
    /// alone.
    package internal(set) var namedSubject: String?
    /// How the server took Basic credentials; keep it with the session for `ClientAuthentication.secretBasic(_:form:)`.
    package internal(set) var acceptedBasicForm: ClientAuthentication.BasicForm?

    /// Creates tokens that a caller's own server returned. Nothing has checked which user they are for.
    ///
    /// - Parameters:
    ///   - accessToken: the token for requests.
    ///   - refreshToken: the refresh token; `nil` after a refresh keeps the old one.
    ///   - expiresInSeconds: the remaining life of the access token.
    ///   - grantedScopes: the granted scopes; `nil` means the requested ones.
    ///   - type: the server's token type; bearer tokens are refused if a key was requested.
    public init(
        accessToken: consuming Secret<AccessToken>, refreshToken: consuming Secret<RefreshToken>? = nil,
        expiresInSeconds: Int64? = nil, grantedScopes: ScopeList? = nil, type: TokenType = .bearer
    ) {
        self.init(
            accessToken: accessToken, refreshToken: refreshToken, idToken: nil, subject: nil,
            expiresInSeconds: expiresInSeconds, grantedScopes: grantedScopes, type: type)
    }

    init(
        accessToken: consuming Secret<AccessToken>, refreshToken: consuming Secret<RefreshToken>?,
        idToken: consuming Secret<IDToken>?, subject: String?, expiresInSeconds: Int64?, grantedScopes: ScopeList?,
        type: TokenType
    ) {
        self.type = type
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.subject = subject
        self.expiresInSeconds = expiresInSeconds
        self.grantedScopes = grantedScopes
    }
}

/// Takes tokens out of a token endpoint's response (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3).
struct TokenResponseReader {
    let server: AuthorizationServerMetadata
    let clientID: String
    /// Whether tokens must be bound to a key (RFC 9449 section 5), or must not.
    let isBound: Bool
    let now: UnixTime

    /// One hundred years: a longer life is reduced to this, so that adding it to the clock can't overflow.
    static let maximumLifetimeSeconds: Int64 = 3_155_760_000

    /// Reads the response to a code. If a nonce was sent, the response must contain an ID token.
    func tokens(
        in document: borrowing JSONDocument, nonce: borrowing Secret<OpenIDNonce>?
    ) throws(OAuthError) -> TokenResponse {
        let refreshToken = try Self.token("refresh_token", in: document, as: RefreshToken.self)
        switch nonce {
        case .none:
            return try response(document, refreshToken: refreshToken)
        case .some(let nonce):
            guard let idToken = try Self.token("id_token", in: document, as: IDToken.self) else {
                throw OAuthError(.invalidResponse(.missingIDToken))
            }
            let claims = try IDTokenClaims(idToken)
            try claims.check(issuer: server.issuer, clientID: clientID, now: now)
            try claims.check(nonce: nonce)
            return try response(document, refreshToken: refreshToken, idToken, claims)
        }
    }

    /// Reads the response to a device code, which has no nonce (RFC 8628 section 3.5).
    func deviceTokens(in document: borrowing JSONDocument, openID: Bool) throws(OAuthError) -> TokenResponse {
        let refreshToken = try Self.token("refresh_token", in: document, as: RefreshToken.self)
        guard openID, let idToken = try Self.token("id_token", in: document, as: IDToken.self) else {
            return try response(document, refreshToken: refreshToken)
        }
        let claims = try IDTokenClaims(idToken)
        try claims.check(issuer: server.issuer, clientID: clientID, now: now)
        return try response(document, refreshToken: refreshToken, idToken, claims)
    }

    /// Reads the response to a refresh token. An ID token may come, and must be for the same person then (OpenID
    /// Connect Core section 12.2).
    func refreshedTokens(
        in document: borrowing JSONDocument, after old: borrowing Secret<RefreshToken>, subject: String?, openID: Bool
    ) throws(OAuthError) -> TokenResponse {
        let refreshToken = try Self.token("refresh_token", in: document, as: RefreshToken.self) ?? old.duplicate()
        guard openID, let idToken = try Self.token("id_token", in: document, as: IDToken.self) else {
            return try response(document, refreshToken: refreshToken, subject: subject, isRefresh: true)
        }
        let claims = try IDTokenClaims(idToken)
        try claims.check(issuer: server.issuer, clientID: clientID, now: now)
        guard subject.map({ $0.hasSameOctets(as: claims.subject) }) ?? true else {
            throw OAuthError(.invalidResponse(.idTokenSubject))
        }
        // Checks the parts that don't need the server's keys: requesting the keys must wait until the tokens are
        // stored.
        if server.keySetEndpoint != nil { _ = try IDTokenSignature(idToken, by: server.idTokenAlgorithms) }
        return try response(document, refreshToken: refreshToken, idToken, claims, isRefresh: true)
    }

    // MARK: - Members

    private func response(
        _ document: borrowing JSONDocument, refreshToken: consuming Secret<RefreshToken>?,
        _ idToken: consuming Secret<IDToken>, _ claims: borrowing IDTokenClaims, isRefresh: Bool = false
    ) throws(OAuthError) -> TokenResponse {
        var response = try response(
            document, refreshToken: refreshToken, idToken: idToken, subject: claims.subject, isRefresh: isRefresh)
        response.accountName = claims.name
        // Uses the server's clock, because the server wrote the token's end.
        response.idTokenExpiresInSeconds = min(claims.expiry.seconds(since: now), Self.maximumLifetimeSeconds)
        return response
    }

    private func response(
        _ document: borrowing JSONDocument, refreshToken: consuming Secret<RefreshToken>?,
        idToken: consuming Secret<IDToken>? = nil, subject: String? = nil, isRefresh: Bool = false
    ) throws(OAuthError) -> TokenResponse {
        guard let accessToken = try Self.token("access_token", in: document, as: AccessToken.self) else {
            throw OAuthError(.invalidResponse(.missingAccessToken))
        }
        guard accessToken.isToken else {
            throw OAuthError(.invalidResponse(.malformedToken))
        }
        guard let type = document.member("token_type"), let text = try? document.publicText(type, limit: 32) else {
            throw OAuthError(.invalidResponse(.unknownTokenType))
        }
        guard text.hasSameOctetsButForCase(as: isBound ? "DPoP" : "Bearer") else {
            // Whoever has a bearer token could use it.
            let isBearer = isBound && text.hasSameOctetsButForCase(as: "Bearer")
            throw OAuthError(.invalidResponse(isBearer ? .tokenNotBound : .unknownTokenType))
        }
        let scopes = scopes(in: document)
        // A refresh accepts bad scopes, because the old refresh token may be spent and the old scopes are known.
        guard isRefresh || scopes != nil || document.member("scope") == nil else {
            throw OAuthError(.invalidResponse(.malformedScope))
        }
        var response = TokenResponse(
            accessToken: accessToken, refreshToken: refreshToken, idToken: idToken, subject: subject,
            expiresInSeconds: lifetime("expires_in", in: document),
            grantedScopes: scopes, type: isBound ? .dpop : .bearer)
        response.namedSubject = document.member("sub").flatMap { try? document.publicText($0, limit: 2048) }
        return response
    }

    /// Returns a token, or `nil` when the member is absent, `null` or empty, as some servers write it.
    static func token<Purpose: SecretPurpose>(
        _ name: StaticString, in document: borrowing JSONDocument, as purpose: Purpose.Type
    ) throws(OAuthError) -> Secret<Purpose>? {
        guard let member = document.member(name), (try? document.publicText(member, limit: 0)) == nil else {
            return nil
        }
        guard let token = try? document.secret(member, as: purpose),
            token.isVisible
        else { throw OAuthError(.invalidResponse(.malformedToken)) }
        return token
    }

    private func lifetime(_ name: StaticString, in document: borrowing JSONDocument) -> Int64? {
        document.seconds(name).map { Int64(min($0, Double(Self.maximumLifetimeSeconds))) }
    }

    /// Returns the granted scopes, or `nil` when the server doesn't say them, or not readably.
    private func scopes(in document: borrowing JSONDocument) -> ScopeList? {
        guard let member = document.member("scope") else { return nil }
        if member.kind == .array {
            // As Twitch writes it.
            return try? ScopeList(document.publicTexts(member, limit: ScopeList.maximumByteCount))
        }
        let text = try? document.publicText(member, limit: ScopeList.maximumByteCount)
        return text.flatMap { try? ScopeList(text: $0, separatedByComma: server.separatesScopesByComma) }
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Whether it can be a token: VSCHAR (RFC 6749 appendix A), at most 32 KiB. Tokens that are JSON Web Tokens can be
    /// long; a field of HTTP can't be much longer than this.
    fileprivate var isVisible: Bool { withExposedBytes { ASCII.isVisible($0, limit: 32 << 10) } }
}

extension Secret where Purpose == AccessToken {
    /// Whether a request can carry it. RFC 6749 allows a space in a token, but a Bearer field can't carry one (RFC 6750
    /// section 2.1).
    package var isToken: Bool { isVisible && withExposedBytes { $0.index(of: 0x20) == nil } }
}

extension TokenResponse {
    /// Whether requests can carry its tokens.
    var isWellFormed: Bool {
        guard accessToken.isToken else { return false }
        switch refreshToken {
        case .some(let token): return token.isVisible
        case .none: return true
        }
    }
}

extension JSONDocument {
    /// A member that is a number of seconds. Some servers write it as a string or with a fraction; what can't be read
    /// counts as not said.
    borrowing func seconds(_ name: StaticString) -> Double? {
        guard let member = member(name) else { return nil }
        let seconds: Double? =
            switch member.kind {
            case .number: try? double(member)
            case .string: (try? publicText(member, limit: 20)).flatMap(Int64.init).map(Double.init)
            default: nil
            }
        return seconds.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// Tokens that a server has issued and that are about to be revoked, because they aren't stored.
package final class IssuedTokens: Sendable {
    package let accessToken: Secret<AccessToken>?
    package let refreshToken: Secret<RefreshToken>?

    package init(
        _ accessToken: consuming Secret<AccessToken>?, _ refreshToken: consuming Secret<RefreshToken>?
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }

    /// - Parameter old: the refresh token that was there before: it was not issued now.
    package convenience init(_ tokens: borrowing TokenResponse, without old: borrowing Secret<RefreshToken>? = nil) {
        self.init(tokens.accessToken.duplicate(), Self.new(tokens.refreshToken, old))
    }

    /// Takes the tokens of a response, whatever is wrong with the rest; `nil` if there are none.
    convenience init?(in document: borrowing JSONDocument, without old: borrowing Secret<RefreshToken>?) {
        let access = try? TokenResponseReader.token("access_token", in: document, as: AccessToken.self)
        let refresh = try? TokenResponseReader.token("refresh_token", in: document, as: RefreshToken.self)
        let new = Self.new(refresh, old)
        if access == nil && new == nil { return nil }
        self.init(access, new)
    }

    private static func new(
        _ token: borrowing Secret<RefreshToken>?, _ old: borrowing Secret<RefreshToken>?
    ) -> Secret<RefreshToken>? {
        switch token {
        case .none: return nil
        case .some(let token):
            switch old {
            case .some(let old): return token.matches(old) ? nil : token.duplicate()
            case .none: return token.duplicate()
            }
        }
    }
}
