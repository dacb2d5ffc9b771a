import LatchkeyHTTP

private func leak(_ value: consuming GuardedRequest) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'GuardedRequest' conform to 'Copyable'}}
}
