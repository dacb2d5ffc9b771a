import LatchkeySecrets

private struct SignInFailed: Error {
    let token: Secret<AccessToken>  // expected-error {{stored property 'token' of 'Copyable'-conforming struct 'SignInFailed' has non-Copyable type 'Secret<AccessToken>'}}
}
