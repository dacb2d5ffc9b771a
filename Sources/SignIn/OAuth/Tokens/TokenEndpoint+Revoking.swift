internal import LatchkeyJSON
internal import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem

// Tokens that are refused must not stay good at the server, where nobody would know of them (RFC 7009 section 1).

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

    /// Best effort, in a task of its own: cancelling the caller doesn't stop it, and it ends by itself.
    private func revoke(
        _ tokens: IssuedTokens, _ authentication: borrowing ClientAuthentication,
        _ form: ClientAuthentication.BasicForm?
    ) async {
        let log = endpoint.log
        log.warning("tokens that the server has just issued are refused, so they are revoked")
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
                return log.warning("they could not be revoked: the server has no endpoint for it")
            }
            do throws(OAuthError) {
                try await revocation.revoke(tokens, authentication: authentication)
                log.info("they are revoked")
            } catch {
                log.warning("they could not be revoked: \(error)")
            }
        }.value
    }

    /// Checks tokens that a step of the caller's own brought as those of a response are; others are revoked.
    ///
    /// Throws `.invalidResponse(.tokenNotBound)` where they should be bound to a key, and `.unknownTokenType` where
    /// there is none.
    package func requireBinding(
        of tokens: borrowing TokenResponse, without old: borrowing Secret<RefreshToken>? = nil,
        _ authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) {
        let isBound = tokens.type == .dpop
        guard isBound != (endpoint.dpop != nil) else { return }
        await revoke(tokens, without: old, authentication)
        throw OAuthError(.invalidResponse(isBound ? .unknownTokenType : .tokenNotBound))
    }
}
