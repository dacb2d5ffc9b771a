import LatchkeyVault

private func leak(_ value: consuming VaultKeySource) {
    let hidden: Any = value  // expected-error {{value of type 'VaultKeySource' does not conform to specified type 'Copyable'}}
    print(hidden)
}
