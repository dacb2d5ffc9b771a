import LatchkeyOAuth

private func leak(_ value: consuming PKCEChallenge) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'PKCEChallenge' conform to 'Copyable'}}
}
