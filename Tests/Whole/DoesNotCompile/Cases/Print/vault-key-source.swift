import LatchkeyVault

private func leak(_ value: consuming VaultKeySource) {
    print(value)  // expected-error {{argument type 'VaultKeySource' does not conform to expected type 'Copyable'}}
}
