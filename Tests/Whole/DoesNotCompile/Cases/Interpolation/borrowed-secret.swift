import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    print("\(token)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
