import LatchkeyHTTP

func leak(_ value: consuming HTTPRequest) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'HTTPRequest' does not conform to expected type 'Copyable'}}
}
