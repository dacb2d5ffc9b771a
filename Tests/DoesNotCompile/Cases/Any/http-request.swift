import LatchkeyHTTP

func leak(_ value: consuming HTTPRequest) {
    let hidden: Any = value  // expected-error {{value of type 'HTTPRequest' does not conform to specified type 'Copyable'}}
    print(hidden)
}
