import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) -> Never {
    preconditionFailure("refused: \(token)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
