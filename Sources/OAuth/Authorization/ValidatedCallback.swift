internal import Secrets

/// An authorization code that belongs to an attempt of ours: the only thing `TokenEndpoint` exchanges.
///
/// It has no initialiser outside this module; `PendingAuthorization.validate` makes it.
public struct ValidatedCallback: ~Copyable, Sendable {
    public let request: AuthorizationRequest
    let code: Secret<AuthorizationCode>
    let verifier: Secret<CodeVerifier>
    let nonce: Secret<Nonce>?

    init(
        request: AuthorizationRequest, code: consuming Secret<AuthorizationCode>,
        verifier: consuming Secret<CodeVerifier>, nonce: consuming Secret<Nonce>?
    ) {
        self.request = request
        self.code = code
        self.verifier = verifier
        self.nonce = nonce
    }
}
