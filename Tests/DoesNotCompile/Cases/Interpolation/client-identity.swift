import LatchkeyOAuth

func leak(_ value: consuming ClientIdentity) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
