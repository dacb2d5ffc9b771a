import LatchkeyVault

private func leak(_ value: consuming VaultKeySource) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
