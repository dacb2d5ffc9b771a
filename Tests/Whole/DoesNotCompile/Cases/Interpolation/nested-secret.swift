import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print("sign-in \("token \(token)")")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
