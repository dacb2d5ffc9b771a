import LatchkeySecrets

func leak(_ value: consuming SecretBuilder) {
    print(value)  // expected-error {{argument type 'SecretBuilder' does not conform to expected type 'Copyable'}}
}
