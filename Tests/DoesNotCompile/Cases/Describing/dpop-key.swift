import LatchkeyOAuth

func leak(_ value: consuming DPoPKey) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'DPoPKey' conform to 'Copyable'}}
}
