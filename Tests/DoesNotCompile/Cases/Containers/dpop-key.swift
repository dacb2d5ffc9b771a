import LatchkeyOAuth

func leak(_ value: consuming DPoPKey) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'DPoPKey' conform to 'Copyable'}}
}
