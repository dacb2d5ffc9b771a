import LatchkeyOAuth

private func leak(_ value: consuming PendingAuthorization) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
