import LatchkeySecrets

func leak(_ value: consuming SecretBuilder) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
