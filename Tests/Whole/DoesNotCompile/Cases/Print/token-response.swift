import LatchkeyOAuth

private func leak(_ value: consuming TokenResponse) {
    print(value)  // expected-error {{argument type 'TokenResponse' does not conform to expected type 'Copyable'}}
}
