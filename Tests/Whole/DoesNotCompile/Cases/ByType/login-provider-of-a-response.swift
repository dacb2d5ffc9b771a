import LatchkeyFoundation
import LatchkeyOAuth

private func replace(_ tokens: inout OAuthAuthenticator.TokenHandling) {
    tokens.loginProvider = { (response: consuming AuthorizationResponse, endpoint, authentication) in  // expected-error {{cannot assign value of type '@Sendable (consuming AuthorizationResponse, TokenEndpoint, borrowing ClientAuthentication)}}
        throw OAuthError(.sessionEnded)
    }
}
