import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationURL) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'AuthorizationURL' conform to 'Copyable'}}
}
