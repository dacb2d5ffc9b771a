import LatchkeyOAuth

func leak(_ value: consuming DPoPKey) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'DPoPKey' conform to 'Copyable'}}
}
