import LatchkeyOAuth

private func leak(_ value: consuming PKCEChallenge) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'PKCEChallenge' conform to 'Copyable'}}
}
