import LatchkeyOAuth

private func leak(_ value: consuming PKCEChallenge) {
    print(value)  // expected-error {{argument type 'PKCEChallenge' does not conform to expected type 'Copyable'}}
}
