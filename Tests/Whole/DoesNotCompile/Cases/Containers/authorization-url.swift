import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationURL) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'AuthorizationURL' conform to 'Copyable'}}
}
