import LatchkeyHTTP

func leak(_ value: consuming HTTPRequest) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'HTTPRequest' conform to 'Copyable'}}
}
