import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { bytes in print([bytes]) }  // expected-error {{cannot convert value of type 'Span<UInt8>' to expected element type 'Any'}}
}
