import LatchkeyHTTP

func leak(_ value: consuming HTTPRequest) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'HTTPRequest' conform to 'Copyable'}}
}
