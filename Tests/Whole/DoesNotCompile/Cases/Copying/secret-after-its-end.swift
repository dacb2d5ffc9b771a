import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {  // expected-error {{'token' used after consume}}
    let other = consume token
    print(other.byteCount, token.byteCount)
}
