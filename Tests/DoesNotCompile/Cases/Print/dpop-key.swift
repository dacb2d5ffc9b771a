import LatchkeyOAuth

func leak(_ value: consuming DPoPProofKey) {
    print(value)  // expected-error {{argument type 'DPoPProofKey' does not conform to expected type 'Copyable'}}
}
