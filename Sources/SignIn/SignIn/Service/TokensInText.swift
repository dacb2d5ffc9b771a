internal import LatchkeyLog
internal import LatchkeyOAuth

/// The tokens of one response, to detect them in the plain text that the server sends with them: names and scopes are
/// stored, listed and logged in plain text, so they may not contain a token.
///
/// A match is what `LiveSecrets` finds: a whole token, or fifteen consecutive bytes of one.
struct TokensInText: ~Copyable {
    private let live = LiveSecrets()
    private let accessToken: WatchedSecret
    private let refreshToken: WatchedSecret?
    private let identityToken: WatchedSecret?

    init(_ tokens: borrowing TokenResponse) {
        accessToken = live.watch(tokens.accessToken)
        switch tokens.refreshToken {
        case .some(let token): refreshToken = live.watch(token)
        case .none: refreshToken = nil
        }
        switch tokens.idToken {
        case .some(let token): identityToken = live.watch(token)
        case .none: identityToken = nil
        }
    }

    /// - Throws: `.tokenInAccount` where the server calls the person by a token.
    borrowing func check(_ identity: AccountIdentity) throws(SignInError) {
        guard ![identity.name, identity.subject ?? ""].contains(where: live.isHeld) else {
            throw SignInError(.tokenInAccount)
        }
    }

    /// The scopes without those that contain a token. The session works without a scope's name, because its tokens are
    /// valid.
    borrowing func plain(_ scopes: ScopeList?, _ log: RedactedLogger) -> ScopeList? {
        guard let scopes, live.isHeld(by: scopes.text) else { return scopes }
        log.warning("the server put a token among the scopes; skipping the scopes that contain it")
        // Any subset of well-formed scopes is well-formed.
        return (try? ScopeList(scopes.scopes.filter { !live.isHeld(by: $0) })) ?? []
    }
}
