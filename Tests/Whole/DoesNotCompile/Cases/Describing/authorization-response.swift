import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationResponse) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'AuthorizationResponse' conform to 'Copyable'}}
}
