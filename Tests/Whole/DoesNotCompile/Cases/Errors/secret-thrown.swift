import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) throws {
    throw token  // expected-error {{thrown expression type 'Secret<AccessToken>' does not conform to 'Error'}}
}
