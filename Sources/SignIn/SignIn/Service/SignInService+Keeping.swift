internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

extension SignInService {
    // MARK: - With tokens in hand

    /// Stores the session. If that fails, revokes the tokens, except at a server where that would end the person's
    /// other sessions. Refuses a server that uses one of the person's tokens as their name.
    func keep(
        _ tokens: borrowing TokenResponse, named account: String?, server: AuthorizationServerMetadata,
        secret: borrowing Secret<ClientSecret>?, signer: DPoPProofSigner?, mayAsk: Bool = true
    ) async throws(SignInError) -> SessionSummary {
        do throws(SignInError) {
            let texts = TokensInText(tokens)
            let identity = try await identity(
                of: tokens, named: account, server: server, signer: signer, mayAsk: mayAsk)
            try texts.check(identity)
            let scopes = texts.plain(tokens.grantedScopes, log) ?? provider.scopes
            for name in names(of: identity, isChosen: account != nil || identify != nil) {
                let session = StoredSession(
                    tokens, authority: provider.authority, clientID: provider.clientID, account: name,
                    subject: identity.subject, scopes: scopes, keyThumbprint: signer?.thumbprint,
                    resource: provider.resource ?? provider.knownAccount?.resource, now: context.now())
                if Task.isCancelled { throw .cancelled }
                switch try await mapError(
                    SignInError.store, awaiting: await saveUnderLease(session, signer, mayReplace: identity.mayReplace))
                {
                case .taken: continue
                case .saved(let replaced):
                    if let replaced { await revoke(replaced, server: server, secret: secret) }
                    var summary = session.summary
                    summary.naming =
                        name.hasSameOctets(as: identity.name) || !identity.mayReplace
                        ? identity.naming : .taken(identity.name)
                    return summary
                }
            }
            throw SignInError(.otherPerson)
        } catch {
            log.warning("can't store the session: \(error)")
            guard provider.revokesReplacedTokens else { throw error }
            let outcome = await revoke(
                IssuedTokens(tokens), server: server, secret: secret?.duplicate(), basicForm: tokens.acceptedBasicForm,
                dpop: signer, timeout: TokenEndpoint.timeoutOfRevocation)
            if case .failed(let failure) = outcome { log.warning("can't revoke the tokens: \(failure)") }
            throw error
        }
    }

    /// The limit of people with one name.
    private static let maximumNumber = 99

    /// The names to keep a session under, best first. A name that the caller chose is the only one: the caller goes on
    /// to use that name, and must not get another person's session by it.
    private func names(of identity: AccountIdentity, isChosen: Bool) -> [String] {
        isChosen ? [identity.name] : [identity.name] + (2...Self.maximumNumber).map { "\(identity.name)-\($0)" }
    }

    private func identity(
        of tokens: borrowing TokenResponse, named account: String?, server: AuthorizationServerMetadata,
        signer: DPoPProofSigner?, mayAsk: Bool
    ) async throws(SignInError) -> AccountIdentity {
        if let known = provider.knownAccount {
            try check(tokens, are: known)
            return AccountIdentity(name: account ?? known.subject, subject: known.subject)
        }
        if let identify {
            let identity = try await identify(tokens.accessToken, tokens.grantedScopes)
            return AccountIdentity(name: account ?? identity.name, subject: identity.subject)
        }
        // A resource's token is sent nowhere else, not even to the server that gave it.
        let lookup = AccountLookup(
            source: provider.resource == nil ? provider.account : .nowhere, server: server, http: context.http,
            dpop: signer, log: log)
        if let account {
            let isByAPI = if case .resource = provider.account { true } else { false }
            // The person's identity only matters if the name is taken.
            let subject: String? =
                if !isByAPI, let subject = tokens.subject { subject } else if try await isTaken(account) {
                    try await lookup.identify(tokens.accessToken, subject: nil)?.subject
                } else if isByAPI {
                    try? await lookup.identify(tokens.accessToken, subject: nil)?.subject
                } else { nil }
            return AccountIdentity(name: account, subject: subject)
        }
        let answer: AccountIdentity?? = try await nilIf(
            \SignInError.isPassing,
            awaiting: try await lookup.identify(
                tokens.accessToken, subject: tokens.subject, name: tokens.accountName))
        let found = answer ?? nil
        if let found, sessions.takes(found.name) { return found }
        if mayAsk, let name = await context.askForName?(), sessions.takes(name) {
            return AccountIdentity(name: name, subject: found?.subject ?? tokens.subject)
        }
        if answer == nil {
            log.warning("the server failed to say who signed in; to name the account, sign out, then sign in again")
        }
        // A sign-in is never lost for a name.
        var identity = AccountIdentity(name: provider.name, subject: found?.subject ?? tokens.subject)
        identity.naming = .byProvider
        // At another time the server may say that this is another person.
        identity.mayReplace = answer != nil
        return identity
    }

    /// Whether a name's session identifies its owner.
    private func isTaken(_ account: String) async throws(SignInError) -> Bool {
        try await mapError(SignInError.store, awaiting: await previousSession(of: account).subject != nil)
    }

    /// Checks the owner of tokens before any use.
    ///
    /// - Parameter scopes: those of the session that was refreshed, which stay unless the server names others (RFC 6749
    ///   section 6).
    func check(
        _ tokens: borrowing TokenResponse, are known: OAuthProvider.KnownAccount, of scopes: ScopeList = []
    ) throws(SignInError) {
        guard tokens.namedSubject?.hasSameOctets(as: known.subject) == true else { throw SignInError(.accountMismatch) }
        let granted = tokens.grantedScopes ?? scopes
        guard known.requiredScopes.scopes.allSatisfy(granted.contains) else { throw SignInError(.scopeMissing) }
    }

    // MARK: - In the store

    private enum Saving {
        /// The new session is stored. Contains the replaced session, whose tokens can be revoked, if any.
        case saved(ReplacedSession?)
        /// The name is another person's.
        case taken
    }

    /// Saves under the lease, so that a refresh in another process can't replace the new session by an old one. If
    /// either of the two writes fails, nothing has changed.
    private func saveUnderLease(
        _ session: borrowing StoredSession, _ signer: DPoPProofSigner?, mayReplace: Bool
    ) async throws(StoreError) -> Saving {
        let account = session.account
        let lease = try await sessions.lease(account, deadline: .standard)
        let before = try await previousSession(of: account)
        let current = try await sessions.currentAccount()
        let isGlobal = provider.knownAccount != nil
        guard before.isReplaceable(by: session, isGlobal: isGlobal), mayReplace || !before.exists else { return .taken }
        let replaced = await replacedSession(before, by: session)
        do throws(StoreError) {
            // The key first: a session without its key would be of no use.
            if let signer { try await sessions.saveKey(signer.key, account: account) }
            try await sessions.save(session)
            try await sessions.setCurrentAccount(account)
        } catch {
            await putBack(before, account, current: current, without: signer?.thumbprint)
            throw error
        }
        // If the store can't be reached later, memory returns this account and its new token.
        lastAccount = account
        remember(session)
        _ = try? await sessions.forgetEnd(of: account)
        if let signer { signers[Octets(signer.thumbprint)] = signer }
        if let old = before.keyThumbprint {
            signers[Octets(old)] = nil
            if let error = await failure(StoreError.self, awaiting: try await sessions.deleteKey(old)) {
                log.warning("can't delete the key of the previous session: \(error)")
            }
        }
        lease.release()
        return .saved(replaced)
    }

    /// A session that a sign-in replaces.
    private final class PreviousSession: Sendable {
        let session: StoredSession?
        let keyThumbprint: String?
        let subject: String?
        let exists: Bool

        init(_ session: consuming StoredSession?) {
            keyThumbprint = session?.keyThumbprint
            subject = session?.subject
            exists = session != nil
            self.session = session
        }

        /// Whether no other user loses an account by it: the same server must not say that another person has it.
        ///
        /// - Parameter isGlobal: whether subjects are a person's at every server, as DIDs are.
        func isReplaceable(by session: borrowing StoredSession, isGlobal: Bool) -> Bool {
            guard let subject, isGlobal || isOfSameServer(as: session) else { return true }
            return session.subject?.hasSameOctets(as: subject) ?? false
        }

        func isOfSameServer(as other: borrowing StoredSession) -> Bool {
            switch session {
            case .some(let session):
                session.authority.hasSameOctets(as: other.authority)
                    && session.clientID.hasSameOctets(as: other.clientID)
            case .none: false
            }
        }
    }

    // MARK: - What is replaced

    /// Tokens that are no longer needed, with the data to revoke them.
    private final class ReplacedSession: Sendable {
        let tokens: IssuedTokens
        let basicForm: ClientAuthentication.BasicForm?
        let signer: DPoPProofSigner?

        init(_ session: borrowing StoredSession, signer: DPoPProofSigner?) {
            tokens = IssuedTokens(session.accessToken.duplicate(), session.refreshToken?.duplicate())
            basicForm = session.basicForm
            self.signer = signer
        }
    }

    /// Returns `nil` where the new session shares a token with the old one (some servers give the same token again),
    /// where revoking would end the new one as well, and for tokens of another server.
    private func replacedSession(
        _ before: PreviousSession, by session: borrowing StoredSession
    ) async -> ReplacedSession? {
        guard provider.revokesReplacedTokens, before.isOfSameServer(as: session) else { return nil }
        switch before.session {
        case .some(let old):
            guard !old.accessToken.matches(session.accessToken), !Self.areSame(old.refreshToken, session.refreshToken)
            else { return nil }
            return ReplacedSession(old, signer: try? await signer(of: old))
        case .none: return nil
        }
    }

    private static func areSame(
        _ left: borrowing Secret<RefreshToken>?, _ right: borrowing Secret<RefreshToken>?
    ) -> Bool {
        switch left {
        case .some(let left):
            switch right {
            case .some(let right): left.matches(right)
            case .none: false
            }
        case .none: false
        }
    }

    /// The new session is stored: whatever comes of this, the sign-in is done.
    private func revoke(
        _ replaced: ReplacedSession, server: AuthorizationServerMetadata, secret: borrowing Secret<ClientSecret>?
    ) async {
        let outcome = await revoke(
            replaced.tokens, server: server, secret: secret?.duplicate(), basicForm: replaced.basicForm,
            dpop: replaced.signer, timeout: TokenEndpoint.timeoutOfRevocation)
        switch outcome {
        case .revoked: log.info("revoked the tokens of the previous session")
        case .failed(let error): log.warning("can't revoke the tokens of the previous session: \(error)")
        case .unsupported, .notNeeded: log.info("the server can't revoke the tokens of the previous session")
        }
    }

    private func previousSession(of account: String) async throws(StoreError) -> PreviousSession {
        do throws(StoreError) {
            return PreviousSession(try await sessions.load(account))
        } catch {
            // A new session is the cure for a damaged one.
            guard error.code == .corrupted else { throw error }
            return PreviousSession(nil)
        }
    }

    /// A task of its own, since the caller's may be cancelled: the new session's tokens are about to be revoked, so it
    /// must not stay.
    private func putBack(
        _ before: PreviousSession, _ account: String, current: String?, without thumbprint: String?
    ) async {
        let undoing = Task { [sessions, log] in
            do throws(StoreError) {
                switch before.session {
                case .some(let session): try await sessions.save(session)
                case .none: try await sessions.deleteSession(of: account)
                }
                if let thumbprint { try await sessions.deleteKey(thumbprint) }
                try await sessions.setCurrentAccount(current)
            } catch {
                log.warning("can't restore the store: \(error)")
            }
        }
        await undoing.value
    }
}

// MARK: - Sign out

extension SignInService {
    /// Revokes an account's tokens, the refresh token first, and deletes its session even without the server.
    /// Cancelling has an effect only before the request to the server. If a refresh in another process takes longer
    /// than 30 seconds, nothing is done: the deletion is `.failed` with `busy`.
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
            // Memory would go on with tokens that the server may have revoked.
            forget(name)
            return SignOutReport(account: name, revocation: revocation, deletion: .failed(.store(error)))
        }
    }

    /// Deletes in a separate task, so that cancelling the caller after the revocation doesn't keep the session.
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

    /// The signer of the session's key. A session without it can still be revoked at servers that don't require a
    /// proof.
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
