import LatchkeyOAuth

private func leak(_ value: consuming ClientAuthentication) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
