import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { print("\($0)") }  // expected-error {{cannot convert value of type 'Span<UInt8>' to expected argument type 'any Any.Type'}}
}
