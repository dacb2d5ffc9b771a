import LatchkeyAuthenticator
import LatchkeyOAuth

func replace(_ tokens: inout OAuthAuthenticator.TokenHandling) {
    tokens.loginProvider = { (answer: consuming RedirectAnswer, endpoint, authentication) in  // expected-error {{cannot assign value of type '@Sendable (consuming RedirectAnswer, TokenEndpoint, borrowing ClientAuthentication)}}
        throw OAuthError(.sessionEnded)
    }
}
