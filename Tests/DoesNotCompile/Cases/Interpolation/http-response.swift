import LatchkeyHTTP

func leak(_ value: consuming HTTPResponse) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
