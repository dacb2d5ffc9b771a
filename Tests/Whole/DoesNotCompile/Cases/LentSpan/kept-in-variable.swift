import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    var kept: Span<UInt8>? = nil  // expected-error {{lifetime-dependent variable 'kept' escapes its scope}}
    token.withExposedBytes { kept = $0 }
    print(kept == nil)
}
