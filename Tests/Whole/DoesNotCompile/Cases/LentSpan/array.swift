import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { bytes in print(Array(bytes)) }  // expected-error {{initializer 'init(_:)' requires that 'Span<UInt8>' conform to 'Sequence'}}
}
