import LatchkeyOAuth

func leak(_ value: consuming RedirectAnswer) {
    print(value)  // expected-error {{argument type 'RedirectAnswer' does not conform to expected type 'Copyable'}}
}
