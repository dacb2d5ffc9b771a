import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationResponse) {
    let hidden: Any = value  // expected-error {{value of type 'AuthorizationResponse' does not conform to specified type 'Copyable'}}
    print(hidden)
}
