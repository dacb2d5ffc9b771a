import LatchkeyOAuth

private func leak() -> ValidatedCallback {
    ValidatedCallback()  // expected-error {{'ValidatedCallback' initializer is inaccessible due to 'internal' protection level}} expected-error {{missing arguments for parameters 'request', 'code', 'verifier', 'nonce' in call}}
}
