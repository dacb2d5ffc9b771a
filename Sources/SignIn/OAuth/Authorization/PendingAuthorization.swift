internal import LatchkeyHTTP
package import LatchkeyJSON
internal import LatchkeyLog
public import LatchkeySecrets

/// One attempt to sign in, from the address the browser is sent to until its response is validated.
///
/// It holds the code verifier, the state and the nonce, and can be used once: validating a response consumes it,
/// whether the response is good or not.
public struct PendingAuthorization: ~Copyable, Sendable {
    package let request: AuthorizationRequest
    let pkce: PKCEChallenge
    /// The state that the response must contain (RFC 6749 section 10.12).
    package let state: Secret<AuthorizationState>
    let nonce: Secret<OpenIDNonce>?

    /// Random octets behind a state or nonce; their base64url text has 43 characters.
    static let octetCount = 32

    init(_ request: AuthorizationRequest, random: RandomSource) throws(OAuthError) {
        let pkce = try Self.freshChallenge(random)
        let state = try Self.fresh(random, AuthorizationState.self)
        let nonce = request.client.scopes.includesOpenID ? try Self.fresh(random, OpenIDNonce.self) : nil
        self.request = request
        self.pkce = pkce
        self.state = state
        self.nonce = nonce
    }

    /// An attempt that began elsewhere; see `PendingAuthorization+JSON`.
    init(_ request: AuthorizationRequest, pkce: consuming PKCEChallenge, state: consuming Secret<AuthorizationState>) {
        self.request = request
        self.pkce = pkce
        self.state = state
        nonce = nil
    }

    private static func freshChallenge(_ random: RandomSource) throws(OAuthError) -> PKCEChallenge {
        do throws(PKCEError) {
            return try PKCEChallenge.generate(random: random)
        } catch {
            guard case .failedToGenerateRandomOctets(let number) = error else {
                preconditionFailure("a generated verifier is valid")
            }
            throw OAuthError(.noRandomOctets(number: number))
        }
    }

    private static func fresh<Purpose: SecretPurpose>(
        _ random: RandomSource, _ purpose: Purpose.Type
    ) throws(OAuthError) -> Secret<Purpose> {
        return try mapError(
            OAuthError.random,
            of: random.secret(byteCount: octetCount, for: purpose).base64URLEncoded())
    }

    /// Returns the address to send the browser to (RFC 6749 section 4.1.1).
    ///
    /// Throws `.invalidConfiguration(.requestTooLarge)` for an address of more than 64 KiB.
    public borrowing func authorizationURL() throws(OAuthError) -> AuthorizationURL {
        var query = try emptyQuery()
        try appendParameters(to: &query)
        return address(query)
    }

    /// Returns the address for a request that was pushed: the client and a reference (RFC 9126 section 4).
    borrowing func authorizationURL(naming reference: borrowing Secret<PushedRequest>) throws(OAuthError)
        -> AuthorizationURL
    {
        var query = try emptyQuery()
        try query.append("client_id", text: request.client.clientID)
        try query.append("request_uri", secret: reference)
        return address(query)
    }

    /// Returns the form to push, without `client_id`: `PushedRequestEndpoint` adds that with the client's credentials.
    borrowing func form() throws(OAuthError) -> FormBody {
        var form = FormBody()
        try appendParameters(to: &form, withClientID: false)
        return form
    }

    private borrowing func emptyQuery() throws(OAuthError) -> FormBody {
        let endpoint = request.server.authorizationEndpoint
        return try FormBody(
            queryAfter: endpoint.text + (endpoint.query == nil ? "?" : ""),
            needsSeparator: !(endpoint.query ?? "").isEmpty)
    }

    private borrowing func address(_ query: consuming FormBody) -> AuthorizationURL {
        AuthorizationURL(whole: query.finish(as: AuthorizationAddress.self), publicPart: publicPart)
    }

    var publicPart: LoggableText {
        let endpoint = request.server.authorizationEndpoint
        return LoggableText(
            reviewed: "origin and path of a configured endpoint, without the query",
            unredacted: endpoint.origin + endpoint.path)
    }

    /// The parameters, the same in a query and in a form pushed beforehand.
    private borrowing func appendParameters(
        to form: inout FormBody, withClientID: Bool = true
    ) throws(OAuthError) {
        try form.append("response_type", text: "code")
        if withClientID { try form.append("client_id", text: request.client.clientID) }
        try form.append("redirect_uri", text: request.redirect.text)
        if !request.client.scopes.isEmpty { try form.append("scope", text: request.client.scopes.text) }
        try form.append("state", secret: state)
        try form.append("code_challenge", text: pkce.challenge)
        try form.append("code_challenge_method", text: pkce.method)
        switch nonce {
        case .some(let nonce): try form.append("nonce", secret: nonce)
        case .none: break
        }
        if let thumbprint = request.keyThumbprint { try form.append("dpop_jkt", text: thumbprint) }
        if request.promptsForConsent { try form.append("prompt", text: "consent") }
        if let resource = request.client.resource { try form.append("resource", text: resource) }
        for parameter in request.client.extraParameters { try form.append(parameter.name, text: parameter.value) }
    }

    /// Returns the gate that lets the first response through that belongs to this attempt.
    package borrowing func responseGate() -> AuthorizationResponseGate {
        AuthorizationResponseGate(state: state.duplicate())
    }

    /// Whether the response's state is this attempt's. The comparison takes constant time.
    public borrowing func recognizes(_ response: borrowing AuthorizationResponse) -> Bool { response.has(state) }

    /// Validates a response, or throws why not. Either way this attempt is over and its state can't be used again.
    ///
    /// Throws `.stateMismatch`; `.issuerMismatch` when `iss` is not this attempt's issuer, or there is none to
    /// compare it with, or it is missing where the server announces it (RFC 9207 section 2.4, error responses
    /// included); `.accessDenied`; `.authorizationFailed`.
    public consuming func validate(
        _ response: consuming AuthorizationResponse
    ) throws(OAuthError) -> ValidatedCallback {
        guard recognizes(response) else { throw OAuthError(.stateMismatch) }
        if let theirs = response.issuer {
            // A server without an issuer can't match any issuer.
            guard let issuer = request.server.issuer, theirs.hasSameOctets(as: issuer.text) else {
                throw OAuthError(.issuerMismatch)
            }
        } else if request.server.announcesIssuerInResponses {
            throw OAuthError(.issuerMismatch)
        }
        switch response.error {
        case .none: break
        case .accessDenied: throw OAuthError(.accessDenied)
        case .some(let error): throw OAuthError(.authorizationFailed, serverError: error)
        }
        guard let code = response.code else { throw OAuthError(.invalidResponse(.neitherCodeNorError)) }
        return ValidatedCallback(request: request, code: code, verifier: pkce.verifier, nonce: nonce)
    }
}

/// The purpose of a stored attempt's secrets.
package enum PendingSecrets: SecretPurpose { public static var name: StaticString { "pending authorization" } }

// A store keeps an attempt that continues in another process: the attempt's secrets and the caller's additions.

extension PendingAuthorization {
    /// Writes the code verifier and the state as members of an object that is for a store alone.
    package borrowing func write(to json: inout JSONWriter) throws(JSONError) {
        try json.member("code_verifier", secret: pkce.verifier)
        try json.member("state", secret: state)
    }

    /// Whether a response's state is that of the attempt that `write` wrote.
    package static func recognizes(
        _ response: borrowing AuthorizationResponse, in document: borrowing JSONDocument
    ) throws(JSONError) -> Bool {
        guard let member = document.member("state") else { throw JSONError(.wrongType) }
        return try response.has(document.secret(member, as: AuthorizationState.self))
    }

    /// Reads what `write` wrote. Throws `.wrongType` for anything else.
    ///
    /// - Parameter request: the same as the attempt began with. One with `openid` among its scopes can't go on like
    ///   this.
    package init(
        reading document: borrowing JSONDocument, of request: AuthorizationRequest
    ) throws(JSONError) {
        guard !request.client.scopes.includesOpenID, let verifier = document.member("code_verifier"),
            let state = document.member("state")
        else { throw JSONError(.wrongType) }
        let secret = try document.secret(verifier, as: CodeVerifier.self)
        guard let pkce = try? PKCEChallenge(verifier: secret) else { throw JSONError(.wrongType) }
        let stateSecret = try document.secret(state, as: AuthorizationState.self)
        guard stateSecret.byteCount >= 43 else { throw JSONError(.wrongType) }
        self.init(request, pkce: pkce, state: stateSecret)
    }
}

// MARK: - Provided url

extension PendingAuthorization {
    /// The code challenge, which everybody may see (RFC 7636 section 4.2); its method is `S256`.
    public var codeChallenge: String { pkce.challenge }

    /// Accepts an authorization URL that the caller made, if the URL belongs to this attempt.
    ///
    /// The URL must lead to the server's authorization endpoint, name the client, contain each parameter once, and have
    /// no fragment. The URL must name a pushed request by `request_uri`, or contain this attempt's `state`, S256
    /// challenge, redirect address and nonce, if there is one. Other parameters are allowed, except a request object
    /// (`request`).
    ///
    /// Throws `.invalidConfiguration(.authorizationURL)` for any other URL.
    ///
    /// - Parameters:
    ///   - address: the URL, consumed.
    ///   - mustNamePushedRequest: whether only a pushed request is accepted, for servers and providers that require it.
    public borrowing func authorizationURL(
        provided address: consuming Secret<AuthorizationAddress>, mustNamePushedRequest: Bool = false
    ) throws(OAuthError) -> AuthorizationURL {
        let isOurs = address.withExposedBytes { bytes in
            (try? belongs(bytes, mustNamePushedRequest: mustNamePushedRequest)) ?? false
        }
        guard isOurs else { throw OAuthError(.invalidConfiguration(.authorizationURL)) }
        return AuthorizationURL(whole: address, publicPart: publicPart)
    }

    private borrowing func belongs(
        _ bytes: Span<UInt8>, mustNamePushedRequest: Bool
    ) throws(OAuthError) -> Bool {
        guard let mark = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: "?") }),
            isEndpoint(bytes.extracting(first: mark)), bytes.index(of: UInt8(ascii: "#")) == nil
        else { return false }
        // Each name once, or it throws.
        let query = try RedirectQuery(bytes.extracting(mark + 1..<bytes.count))
        func isText(_ name: StaticString, _ text: String, _ query: borrowing RedirectQuery) throws(OAuthError) -> Bool {
            try query.text(name, limit: 8192) == text
        }
        guard try isText("client_id", request.client.clientID, query), try query.text("request", limit: 8192) == nil
        else { return false }
        if try query.text("request_uri", limit: PushedRequestEndpoint.maximumRequestURIByteCount) != nil { return true }
        guard !mustNamePushedRequest, try isText("response_type", "code", query),
            try isText("code_challenge", pkce.challenge, query),
            try isText("code_challenge_method", pkce.method, query),
            try isText("redirect_uri", request.redirect.text, query)
        else { return false }
        guard let theirs = try query.secret("state", as: AuthorizationState.self, limit: 1024), theirs.matches(state)
        else {
            return false
        }
        switch nonce {
        case .some(let nonce):
            guard let theirs = try query.secret("nonce", as: OpenIDNonce.self, limit: 1024) else { return false }
            return theirs.matches(nonce)
        case .none: return true
        }
    }

    /// As the server writes its address, or without the scheme's own port.
    private borrowing func isEndpoint(_ bytes: Span<UInt8>) -> Bool {
        let endpoint = request.server.authorizationEndpoint
        let written = endpoint.text.prefix { $0 != "?" }
        return ASCII.equal(bytes, endpoint.origin + endpoint.path) || ASCII.equal(bytes, String(written))
    }
}

/// A validated authorization code of this program's attempt: the only code that ``TokenEndpoint`` exchanges.
///
/// The type has no initialiser outside this module; ``PendingAuthorization/validate(_:)`` creates it.
public struct ValidatedCallback: ~Copyable, Sendable {
    package let request: AuthorizationRequest
    let code: Secret<AuthorizationCode>
    let verifier: Secret<CodeVerifier>
    let nonce: Secret<OpenIDNonce>?

    /// Returns the form that exchanges the code, without the client's authentication, for a caller's own server that
    /// adds it: `grant_type`, `code`, `redirect_uri` and `code_verifier`. The form is a secret, and valid once.
    ///
    /// Throws `.invalidConfiguration(.requestTooLarge)` if the form has more than 64 KiB.
    public consuming func form() throws(OAuthError) -> Secret<MessageBody> {
        try parameters().finish(as: MessageBody.self)
    }

    borrowing func parameters() throws(OAuthError) -> FormBody {
        var form = FormBody()
        try form.append("grant_type", text: "authorization_code")
        try form.append("code", secret: code)
        try form.append("redirect_uri", text: request.redirect.text)
        try form.append("code_verifier", secret: verifier)
        if let resource = request.client.resource { try form.append("resource", text: resource) }
        return form
    }
}
