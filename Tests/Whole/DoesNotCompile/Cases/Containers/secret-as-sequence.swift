import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    for byte in token { print(byte) }  // expected-error {{for-in loop requires 'Secret<AccessToken>' to conform to 'Sequence'}}
}
