import LatchkeySecrets

private let token: Secret<AccessToken> = "token"  // expected-error {{cannot convert value of type 'String' to specified type 'Secret<AccessToken>'}}
