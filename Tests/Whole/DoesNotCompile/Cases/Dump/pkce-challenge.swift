import LatchkeyOAuth

private func leak(_ value: consuming PKCEChallenge) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'PKCEChallenge' conform to 'Copyable'}}
}
