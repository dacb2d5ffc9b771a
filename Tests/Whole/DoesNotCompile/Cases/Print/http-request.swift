import LatchkeyHTTP

private func leak(_ value: consuming GuardedRequest) {
    print(value)  // expected-error {{argument type 'GuardedRequest' does not conform to expected type 'Copyable'}}
}
