import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationURL) {
    let hidden: Any = value  // expected-error {{value of type 'AuthorizationURL' does not conform to specified type 'Copyable'}}
    print(hidden)
}
