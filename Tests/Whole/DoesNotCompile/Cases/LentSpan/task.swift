import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { bytes in _ = Task { print(bytes.count) } }  // expected-error {{lifetime-dependent variable 'bytes' escapes its scope}}
}
