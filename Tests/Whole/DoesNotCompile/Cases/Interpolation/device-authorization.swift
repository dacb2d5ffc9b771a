import LatchkeyOAuth

private func leak(_ value: consuming DeviceAuthorization) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
