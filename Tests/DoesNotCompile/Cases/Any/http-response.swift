import LatchkeyHTTP

func leak(_ value: consuming HTTPResponse) {
    let hidden: Any = value  // expected-error {{value of type 'HTTPResponse' does not conform to specified type 'Copyable'}}
    print(hidden)
}
