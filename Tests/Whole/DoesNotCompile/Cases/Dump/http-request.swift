import LatchkeyHTTP

private func leak(_ value: consuming GuardedRequest) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'GuardedRequest' conform to 'Copyable'}}
}
