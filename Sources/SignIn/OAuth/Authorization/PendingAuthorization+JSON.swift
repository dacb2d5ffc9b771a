package import LatchkeyJSON
internal import LatchkeySecrets
internal import LatchkeySystem

/// What the guarded memory of a kept attempt is for.
package enum PendingSecrets: SecretPurpose { public static var name: StaticString { "pending authorization" } }

// An attempt that goes on in another process is kept in a store: what it holds of secrets, beside what the caller adds.

extension PendingAuthorization {
    /// Writes the code verifier and the state as members of an object that is for a store alone.
    package borrowing func write(to json: inout JSONWriter) throws(JSONError) {
        try json.member("code_verifier", secret: pkce.verifier)
        try json.member("state", secret: state)
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
