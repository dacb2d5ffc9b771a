internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

// A store that can't be reached, such as a database that is failing over, costs nobody a token that is still good.

extension SignInService {
    /// How long a store is waited for that another answer is there for.
    static let patience = Duration.seconds(3)

    /// The session as the store has it; while the store can't be reached, as it was last handed out, for as long as its
    /// token isn't about to end.
    func sessionOrMemory(of account: String, deadline: Deadline) async throws(SignInError) -> StoredSession {
        let kept = handedOut[Octets(account)].flatMap { $0.value.isFresh(at: context.now()) ? $0 : nil }
        let soon = kept == nil ? deadline : Deadline(min(deadline.instant, Deadline.after(Self.patience).instant))
        switch await Result<StoredSession, SignInError>(awaiting: try await session(of: account, deadline: soon)) {
        case .success(let session):
            handedOut[Octets(account)] = Box(session.withoutRefreshToken)
            return session
        case .failure(let error):
            guard case .store(let refusal) = error.code, refusal.code.isAbsenceOfStore else {
                handedOut[Octets(account)] = nil
                throw error
            }
            guard let kept else { throw error }
            log.warning("the store can't be reached; the access token is the one that was read before: \(error)")
            return kept.value.withoutRefreshToken
        }
    }

    /// The account that was meant before, while the store can't say.
    func resolvedBefore(_ error: SignInError) -> String? {
        guard case .store(let refusal) = error.code, refusal.code.isAbsenceOfStore else { return nil }
        return lastAccount
    }

    /// After a sign-out.
    func forget(_ account: String) { handedOut[Octets(account)] = nil }
}

extension StoreError.Code {
    /// The store gave no answer, which a refusal would be.
    fileprivate var isAbsenceOfStore: Bool { self == .unavailable || self == .timedOut || self == .busy }
}

extension StoredSession {
    fileprivate var withoutRefreshToken: StoredSession {
        StoredSession(
            authority: authority, clientID: clientID, account: account, subject: subject, scopes: scopes,
            issued: issued, expiry: expiry, refreshExpiry: refreshExpiry, basicForm: basicForm,
            keyThumbprint: keyThumbprint, resource: resource, refreshBegan: refreshBegan,
            accessToken: accessToken.duplicate(), refreshToken: nil)
    }
}
