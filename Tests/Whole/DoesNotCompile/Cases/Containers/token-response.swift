import LatchkeyOAuth

private func leak(_ value: consuming TokenResponse) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'TokenResponse' conform to 'Copyable'}}
}
