import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationResponse) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'AuthorizationResponse' conform to 'Copyable'}}
}
