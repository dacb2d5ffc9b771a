import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { bytes in print(String(decoding: bytes, as: UTF8.self)) }  // expected-error {{initializer 'init(decoding:as:)' requires that 'Span<UInt8>' conform to 'Collection'}}
}
