import LatchkeyOAuth

private func leak(_ value: consuming ClientAuthentication) {
    print(value)  // expected-error {{argument type 'ClientAuthentication' does not conform to expected type 'Copyable'}}
}
