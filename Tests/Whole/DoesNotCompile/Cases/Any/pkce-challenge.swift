import LatchkeyOAuth

private func leak(_ value: consuming PKCEChallenge) {
    let hidden: Any = value  // expected-error {{value of type 'PKCEChallenge' does not conform to specified type 'Copyable'}}
    print(hidden)
}
