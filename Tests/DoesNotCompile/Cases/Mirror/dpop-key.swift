import LatchkeyOAuth

func leak(_ value: consuming DPoPProofKey) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'DPoPProofKey' does not conform to expected type 'Copyable'}}
}
