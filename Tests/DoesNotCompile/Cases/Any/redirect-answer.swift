import LatchkeyOAuth

func leak(_ value: consuming RedirectAnswer) {
    let hidden: Any = value  // expected-error {{value of type 'RedirectAnswer' does not conform to specified type 'Copyable'}}
    print(hidden)
}
