import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let tokens: Set = [token]  // expected-error {{generic struct 'Set' requires that 'Secret<AccessToken>' conform to 'Hashable'}}
    print(tokens)
}
