import LatchkeySecrets

func leak(_ token: consuming Secret<AccessToken>) {
    assert(token.isEmpty, "\(token)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
