import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(String(reflecting: token))  // expected-error {{initializer 'init(reflecting:)' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
}
