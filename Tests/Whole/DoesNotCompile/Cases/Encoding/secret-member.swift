import LatchkeySecrets

private struct Account: Encodable {  // expected-error {{type 'Account' does not conform to protocol 'Encodable'}}
    let name: String
    let token: Secret<AccessToken>  // expected-error {{stored property 'token' of 'Copyable'-conforming struct 'Account' has non-Copyable type 'Secret<AccessToken>'}}
}
