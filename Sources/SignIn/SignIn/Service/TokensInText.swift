internal import LatchkeyLog
internal import LatchkeyOAuth

/// The tokens of one response, known so that they are noticed in the ordinary text that a server sends beside them:
/// names and scopes are kept in the clear, listed and logged, so no token may stand among them.
///
/// What counts is what `LiveSecrets` finds: a whole token, or fifteen bytes of one in a row.
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

    /// The scopes without those that hold a token: a session can do without a scope's name, and its tokens are good.
    borrowing func plain(_ scopes: ScopeList?, _ log: RedactedLogger) -> ScopeList? {
        guard let scopes, live.isHeld(by: scopes.text) else { return scopes }
        log.warning("the server put a token among the scopes; skipping the scopes that contain it")
        // Of scopes that are well formed, any choice is.
        return (try? ScopeList(scopes.scopes.filter { !live.isHeld(by: $0) })) ?? []
    }
}
