import LatchkeyHTTP

private func leak(_ value: consuming GuardedResponse) {
    print(value)  // expected-error {{argument type 'GuardedResponse' does not conform to expected type 'Copyable'}}
}
