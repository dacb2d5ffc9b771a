import LatchkeyOAuth

func leak(_ value: consuming DPoPKey) {
    print(value)  // expected-error {{argument type 'DPoPKey' does not conform to expected type 'Copyable'}}
}
