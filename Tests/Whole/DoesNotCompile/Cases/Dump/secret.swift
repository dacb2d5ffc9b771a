import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    dump(token)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
}
