import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let text = "\(token)"  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
    print(text)
}
