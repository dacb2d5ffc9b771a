internal import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

extension SignInService {
    /// A sign-in that has begun, and goes on when its response comes: maybe in another process.
    package struct BegunSignIn: ~Copyable, Sendable {
        package let pending: PendingAuthorization
        /// Where to send the person.
        package let url: AuthorizationURL
        /// Of the key that the tokens will be bound to.
        package let signer: DPoPProofSigner?
    }

    /// Makes what a sign-in needs, and pushes its request where that is the provider's way. Nothing is stored.
    package func begin(redirect: RedirectURI) async throws(SignInError) -> BegunSignIn {
        try await refuseEarly(provider, nil)
        let secret = try await clientSecret()
        let server = try await server()
        let signer = try mapError(SignInError.oauth, of: newSigner())
        let pending = try mapError(
            SignInError.oauth,
            of: AuthorizationRequest(server: server, client: provider.client, redirect: redirect, dpop: signer).begin(
                random: context.random))
        let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
        let url = try await address(of: pending, provider, authentication, signer)
        return BegunSignIn(pending: pending, url: url, signer: signer)
    }

    /// Makes the signer of a key that `begin` made, maybe in another process.
    package func signer(with key: consuming DPoPProofKey) -> DPoPProofSigner {
        DPoPProofSigner(key: key, memory: proofs, random: context.random, now: context.now)
    }

    /// Validates a response, exchanges it, and keeps the session as `signIn` does.
    package func resume(
        _ pending: consuming PendingAuthorization, with response: consuming AuthorizationResponse,
        signer: DPoPProofSigner?, account: String?
    ) async throws(SignInError) -> SessionSummary {
        let secret = try await clientSecret()
        let server = try await server()
        let tokens: TokenResponse
        do throws(SignInError) {
            let callback = try Self.validate(response, pending)
            let endpoint = try mapError(SignInError.oauth, of: tokenEndpoint(server, dpop: signer))
            let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
            tokens = try await exchange(callback, at: endpoint, authentication)
        } catch {
            log.info("the sign-in failed: \(error)")
            throw error
        }
        let summary = try await keep(tokens, named: account, server: server, secret: secret, signer: signer)
        log.info("signed in; the session has the scopes \(summary.scopes)")
        return summary
    }
}
