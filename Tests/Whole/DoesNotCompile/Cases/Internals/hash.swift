import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    print(token.hashValue)  // expected-error {{value of type 'Secret<AccessToken>' has no member 'hashValue'}}
}
