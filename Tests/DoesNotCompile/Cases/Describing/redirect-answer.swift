import LatchkeyOAuth

func leak(_ value: consuming RedirectAnswer) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'RedirectAnswer' conform to 'Copyable'}}
}
