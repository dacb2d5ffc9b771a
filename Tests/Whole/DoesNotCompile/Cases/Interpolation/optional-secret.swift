import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>?) {
    print("\(token)")  // expected-error {{struct 'DefaultStringInterpolation' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
}
