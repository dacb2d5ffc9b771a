import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let tokens = ["token": token]  // expected-error {{generic struct 'Dictionary' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
    print(tokens)
}
