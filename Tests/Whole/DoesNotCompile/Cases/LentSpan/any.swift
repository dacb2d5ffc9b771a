import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { let value: Any = $0; print(value) }  // expected-error {{value of type 'Span<UInt8>' does not conform to specified type 'Escapable'}}
}
