import LatchkeyHTTP

func leak(_ value: consuming HTTPRequest) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'HTTPRequest' conform to 'Copyable'}}
}
