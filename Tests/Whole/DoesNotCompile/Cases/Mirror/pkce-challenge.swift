import LatchkeyOAuth

private func leak(_ value: consuming PKCEChallenge) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'PKCEChallenge' does not conform to expected type 'Copyable'}}
}
