import LatchkeyOAuth

private func leak(_ value: consuming PendingAuthorization) {
    let hidden: Any = value  // expected-error {{value of type 'PendingAuthorization' does not conform to specified type 'Copyable'}}
    print(hidden)
}
