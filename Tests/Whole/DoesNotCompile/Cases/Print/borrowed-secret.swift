import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    print(token)  // expected-error {{argument type 'Secret<AccessToken>' does not conform to expected type 'Copyable'}}
}
