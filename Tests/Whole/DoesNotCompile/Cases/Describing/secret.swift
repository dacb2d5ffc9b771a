import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(String(describing: token))  // expected-error {{no exact matches in call to initializer}}
}
