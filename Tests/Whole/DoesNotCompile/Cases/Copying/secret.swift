import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {  // expected-error {{'token' used after consume}}
    let copy = token
    print(copy.byteCount, token.byteCount)
}
