import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let tokens = [token]  // expected-error {{generic struct 'Array' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
    print(tokens)
}
