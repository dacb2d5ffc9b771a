import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) -> Never {
    fatalError(token)  // expected-error {{cannot convert value of type 'Secret<AccessToken>' to expected argument type 'String'}}
}
