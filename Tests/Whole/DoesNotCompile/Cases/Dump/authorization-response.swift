import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationResponse) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'AuthorizationResponse' conform to 'Copyable'}}
}
