import LatchkeySecrets

private struct Account {
    let token: Secret<AccessToken>  // expected-error {{stored property 'token' of 'Copyable'-conforming struct 'Account' has non-Copyable type 'Secret<AccessToken>'}}
}
