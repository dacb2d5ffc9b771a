internal import LatchkeyHTTP
internal import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem

/// One attempt to sign in, from the address the browser is sent to until its response is validated.
///
/// It holds the code verifier, the state and the nonce, and can be used once: validating a response consumes it,
/// whether the response is good or not.
public struct PendingAuthorization: ~Copyable, Sendable {
    package let request: AuthorizationRequest
    let pkce: PKCEChallenge
    /// What the response must bring back (RFC 6749 section 10.12).
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
    /// Throws `.invalidConfiguration(.requestTooLarge)` for an address that is too long to send.
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
        for parameter in request.client.extraParameters { try form.append(parameter.name, text: parameter.value) }
    }

    /// Returns the gate that lets the first response through that belongs to this attempt.
    package borrowing func responseGate() -> AuthorizationResponseGate {
        AuthorizationResponseGate(state: state.duplicate())
    }

    /// Whether the response's state is this attempt's. The comparison takes constant time.
    public borrowing func recognizes(_ response: borrowing AuthorizationResponse) -> Bool {
        switch response.state {
        case .some(let theirs): state.matches(theirs)
        case .none: false
        }
    }

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
            // A server without an issuer has no name that this one could be.
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
