import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { dump($0) }  // expected-error {{instance method 'withExposedBytes' requires that 'Span<UInt8>' conform to 'Escapable'}} expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'Span<UInt8>' conform to 'Escapable'}}
}
