import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { print($0) }  // expected-error {{argument type 'Span<UInt8>' does not conform to expected type 'Escapable'}}
}
