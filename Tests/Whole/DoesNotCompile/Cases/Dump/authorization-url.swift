import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationURL) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'AuthorizationURL' conform to 'Copyable'}}
}
