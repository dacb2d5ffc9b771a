import LatchkeyOAuth

private func leak(_ value: consuming TokenResponse) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'TokenResponse' conform to 'Copyable'}}
}
