import LatchkeyOAuth

func leak(_ value: consuming DPoPKey) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'DPoPKey' does not conform to expected type 'Copyable'}}
}
