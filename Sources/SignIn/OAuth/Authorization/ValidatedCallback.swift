public import LatchkeySecrets

/// An authorization code that belongs to an attempt of ours: the only thing ``TokenEndpoint`` exchanges.
///
/// It has no initialiser outside this module; ``PendingAuthorization/validate(_:)`` makes it.
public struct ValidatedCallback: ~Copyable, Sendable {
    package let request: AuthorizationRequest
    let code: Secret<AuthorizationCode>
    let verifier: Secret<CodeVerifier>
    let nonce: Secret<OpenIDNonce>?

    init(
        request: AuthorizationRequest, code: consuming Secret<AuthorizationCode>,
        verifier: consuming Secret<CodeVerifier>, nonce: consuming Secret<OpenIDNonce>?
    ) {
        self.request = request
        self.code = code
        self.verifier = verifier
        self.nonce = nonce
    }

    /// Returns the form that exchanges the code, but for the client's own proof, for a server of the caller's own that
    /// adds it: `grant_type`, `code`, `redirect_uri` and `code_verifier`. It is a secret, and good once.
    ///
    /// Throws `.invalidConfiguration(.requestTooLarge)` for a form that is too long to send.
    public consuming func form() throws(OAuthError) -> Secret<MessageBody> {
        try parameters().finish(as: MessageBody.self)
    }

    borrowing func parameters() throws(OAuthError) -> FormBody {
        var form = FormBody()
        try form.append("grant_type", text: "authorization_code")
        try form.append("code", secret: code)
        try form.append("redirect_uri", text: request.redirect.text)
        try form.append("code_verifier", secret: verifier)
        return form
    }
}
