import LatchkeyOAuth

private func leak(_ value: consuming ClientAuthentication) {
    let hidden: Any = value  // expected-error {{value of type 'ClientAuthentication' does not conform to specified type 'Copyable'}}
    print(hidden)
}
