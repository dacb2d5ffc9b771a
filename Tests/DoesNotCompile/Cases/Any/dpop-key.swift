import LatchkeyOAuth

func leak(_ value: consuming DPoPKey) {
    let hidden: Any = value  // expected-error {{value of type 'DPoPKey' does not conform to specified type 'Copyable'}}
    print(hidden)
}
