import LatchkeyHTTP

private func leak(_ value: consuming GuardedRequest) {
    let hidden: Any = value  // expected-error {{value of type 'GuardedRequest' does not conform to specified type 'Copyable'}}
    print(hidden)
}
