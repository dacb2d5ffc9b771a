internal import LatchkeyJSON
package import LatchkeySecrets

/// Tokens that a server has issued and that nobody keeps, on their way to being revoked.
package final class IssuedTokens: Sendable {
    package let accessToken: Secret<AccessToken>?
    package let refreshToken: Secret<RefreshToken>?

    package init(
        _ accessToken: consuming Secret<AccessToken>?, _ refreshToken: consuming Secret<RefreshToken>?
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }

    /// - Parameter old: the refresh token that was there before: it was not issued now.
    package convenience init(_ tokens: borrowing TokenResponse, without old: borrowing Secret<RefreshToken>? = nil) {
        self.init(tokens.accessToken.duplicate(), Self.new(tokens.refreshToken, old))
    }

    /// Takes what there is in a response, whatever is wrong with the rest of it; `nil` when that is no token.
    convenience init?(in document: borrowing JSONDocument, without old: borrowing Secret<RefreshToken>?) {
        let access = try? TokenResponseReader.token("access_token", in: document, as: AccessToken.self)
        let refresh = try? TokenResponseReader.token("refresh_token", in: document, as: RefreshToken.self)
        let new = Self.new(refresh, old)
        if access == nil && new == nil { return nil }
        self.init(access, new)
    }

    private static func new(
        _ token: borrowing Secret<RefreshToken>?, _ old: borrowing Secret<RefreshToken>?
    ) -> Secret<RefreshToken>? {
        switch token {
        case .none: return nil
        case .some(let token):
            switch old {
            case .some(let old): return token.matches(old) ? nil : token.duplicate()
            case .none: return token.duplicate()
            }
        }
    }
}
