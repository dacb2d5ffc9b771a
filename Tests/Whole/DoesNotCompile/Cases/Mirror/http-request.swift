import LatchkeyHTTP

private func leak(_ value: consuming GuardedRequest) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'GuardedRequest' does not conform to expected type 'Copyable'}}
}
