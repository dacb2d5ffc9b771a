import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationURL) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
