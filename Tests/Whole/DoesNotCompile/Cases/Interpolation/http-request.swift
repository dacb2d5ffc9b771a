import LatchkeyHTTP

private func leak(_ value: consuming GuardedRequest) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
