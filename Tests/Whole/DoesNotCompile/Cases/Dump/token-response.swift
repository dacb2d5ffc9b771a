import LatchkeyOAuth

private func leak(_ value: consuming TokenResponse) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'TokenResponse' conform to 'Copyable'}}
}
