import LatchkeyOAuth

func leak(_ value: consuming ClientIdentity) {
    print(value)  // expected-error {{argument type 'ClientIdentity' does not conform to expected type 'Copyable'}}
}
