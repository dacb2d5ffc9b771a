import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    print(token.bytes)  // expected-error {{value of type 'Secret<AccessToken>' has no member 'bytes'}}
}
