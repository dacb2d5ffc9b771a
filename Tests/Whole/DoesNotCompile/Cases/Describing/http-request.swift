import LatchkeyHTTP

private func leak(_ value: consuming GuardedRequest) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'GuardedRequest' conform to 'Copyable'}}
}
