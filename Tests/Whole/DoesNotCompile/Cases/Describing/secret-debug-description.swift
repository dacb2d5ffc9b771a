import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(token.debugDescription)  // expected-error {{value of type 'Secret<AccessToken>' has no member 'debugDescription'}}
}
