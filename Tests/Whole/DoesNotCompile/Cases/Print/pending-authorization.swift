import LatchkeyOAuth

private func leak(_ value: consuming PendingAuthorization) {
    print(value)  // expected-error {{argument type 'PendingAuthorization' does not conform to expected type 'Copyable'}}
}
