import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationResponse) {
    print(value)  // expected-error {{argument type 'AuthorizationResponse' does not conform to expected type 'Copyable'}}
}
