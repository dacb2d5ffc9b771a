import LatchkeyOAuth

func leak(_ value: consuming RedirectAnswer) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'RedirectAnswer' does not conform to expected type 'Copyable'}}
}
