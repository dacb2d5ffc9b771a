import LatchkeyFoundation

private func replace(_ tokens: inout OAuthAuthenticator.TokenHandling) {
    tokens.authorizationURLProvider = { _ in "https://login.example.org/authorize" }  // expected-error {{cannot convert value of type 'String' to closure result type 'Secret<AuthorizationAddress>'}}
}
