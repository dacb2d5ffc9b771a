import LatchkeyOAuth

func leak(_ value: consuming RedirectAnswer) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'RedirectAnswer' conform to 'Copyable'}}
}
