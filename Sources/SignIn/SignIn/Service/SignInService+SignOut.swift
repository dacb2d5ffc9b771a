internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

extension SignInService {
    /// Revokes an account's tokens, the refresh token first, and deletes its session even when the server is gone.
    /// Cancelling it has an effect only as long as the server wasn't told.
    ///
    /// - Parameter account: by default the current account.
    @discardableResult
    public func signOut(_ account: String? = nil) async -> SignOutReport {
        let report = await endSession(account)
        log.info("sign-out: \(report)")
        return report
    }

    private func endSession(_ account: String?) async -> SignOutReport {
        let name: String
        do throws(SignInError) {
            name = try await resolve(account)
        } catch {
            let isAbsent = error.code == .notSignedIn
            return SignOutReport(
                account: account, revocation: .notNeeded, deletion: isAbsent ? .absent : .failed(error))
        }
        var revocation = SignOutReport.Revocation.notNeeded
        do throws(StoreError) {
            let lease = try await sessions.lease(name, deadline: .standard)
            revocation = await revokeSession(of: name)
            if case .failed(let error) = revocation, error == .cancelled {
                return SignOutReport(account: name, revocation: .notNeeded, deletion: .failed(error))
            }
            let existed = try await deleteSession(of: name)
            lease.release()
            forget(name)
            return SignOutReport(
                account: name, revocation: revocation, deletion: existed ? .deleted : .absent)
        } catch {
            return SignOutReport(account: name, revocation: revocation, deletion: .failed(.store(error)))
        }
    }

    /// Deletes in a task of its own: the server has been told, so cancelling the caller doesn't stop half-way.
    private func deleteSession(of account: String) async throws(StoreError) -> Bool {
        let deletion = Task { [sessions] () async -> Result<Bool, StoreError> in
            return await Result(awaiting: try await sessions.delete(account))
        }
        return try await deletion.value.get()
    }

    private func revokeSession(of account: String) async -> SignOutReport.Revocation {
        do throws(SignInError) {
            let session = try await session(of: account)
            let tokens = IssuedTokens(session.accessToken.duplicate(), session.refreshToken?.duplicate())
            return await revoke(
                tokens, server: try await server(), secret: try await clientSecret(), basicForm: session.basicForm,
                dpop: try await keptSigner(of: session))
        } catch {
            return error.code == .notSignedIn ? .notNeeded : .failed(error)
        }
    }

    /// Without its key a session can still be revoked, at servers that don't require a proof then.
    private func keptSigner(of session: borrowing StoredSession) async throws(SignInError) -> DPoPProofSigner? {
        do throws(SignInError) {
            return try await signer(of: session)
        } catch {
            guard error.code == .keyLost else { throw error }
            return nil
        }
    }

    /// Revokes tokens in a task of its own: cancelling the caller doesn't stop it half-way.
    func revoke(
        _ tokens: IssuedTokens, server: AuthorizationServerMetadata, secret: consuming Secret<ClientSecret>?,
        basicForm: ClientAuthentication.BasicForm?, dpop: DPoPProofSigner?, timeout: Duration = TransferLimits().timeout
    ) async -> SignOutReport.Revocation {
        let revoker = TokenRevoker(
            provider: provider, server: server, http: context.http, dpop: dpop, log: log, timeout: timeout)
        let authentication: Box<ClientAuthentication>
        do throws(OAuthError) {
            authentication = Box(try self.authentication(secret, basicForm: basicForm))
        } catch {
            return .failed(.oauth(error))
        }
        let secret = Box(secret)
        return await Task {
            do throws(OAuthError) {
                return try await revoker.revoke(
                    tokens, authentication: authentication.value, secret: secret.value)
            } catch {
                return .failed(.oauth(error))
            }
        }.value
    }
}
