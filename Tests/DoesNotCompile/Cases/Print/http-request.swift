import LatchkeyHTTP

func leak(_ value: consuming HTTPRequest) {
    print(value)  // expected-error {{argument type 'HTTPRequest' does not conform to expected type 'Copyable'}}
}
