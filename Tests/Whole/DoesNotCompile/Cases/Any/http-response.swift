import LatchkeyHTTP

private func leak(_ value: consuming GuardedResponse) {
    let hidden: Any = value  // expected-error {{value of type 'GuardedResponse' does not conform to specified type 'Copyable'}}
    print(hidden)
}
