import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) -> Any {
    return token  // expected-error {{return expression of type 'Secret<AccessToken>' does not conform to 'Copyable'}}
}
