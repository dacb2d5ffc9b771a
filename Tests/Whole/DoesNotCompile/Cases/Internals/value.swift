import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    print(token.value)  // expected-error {{value of type 'Secret<AccessToken>' has no member 'value'}}
}
