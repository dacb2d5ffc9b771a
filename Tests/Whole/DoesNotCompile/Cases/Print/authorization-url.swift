import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationURL) {
    print(value)  // expected-error {{argument type 'AuthorizationURL' does not conform to expected type 'Copyable'}}
}
