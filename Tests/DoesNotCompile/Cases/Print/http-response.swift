import LatchkeyHTTP

func leak(_ value: consuming HTTPResponse) {
    print(value)  // expected-error {{argument type 'HTTPResponse' does not conform to expected type 'Copyable'}}
}
