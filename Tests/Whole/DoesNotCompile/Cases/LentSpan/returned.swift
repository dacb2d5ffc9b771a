import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    let bytes = token.withExposedBytes { (bytes: Span<UInt8>) -> Span<UInt8> in bytes }  // expected-error {{instance method 'withExposedBytes' requires that 'Span<UInt8>' conform to 'Escapable'}}
    print(bytes.count)
}
