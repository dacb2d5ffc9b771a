import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { bytes in for byte in bytes { print(byte) } }  // expected-error {{for-in loop requires 'Span<UInt8>' to conform to 'Sequence'}}
}
