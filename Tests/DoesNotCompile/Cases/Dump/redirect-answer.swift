import LatchkeyOAuth

func leak(_ value: consuming RedirectAnswer) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'RedirectAnswer' conform to 'Copyable'}}
}
