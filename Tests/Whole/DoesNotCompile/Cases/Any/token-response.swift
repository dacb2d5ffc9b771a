import LatchkeyOAuth

private func leak(_ value: consuming TokenResponse) {
    let hidden: Any = value  // expected-error {{value of type 'TokenResponse' does not conform to specified type 'Copyable'}}
    print(hidden)
}
