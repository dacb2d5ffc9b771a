import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {  // expected-error {{'token' cannot be captured by an escaping closure since it is a borrowed parameter}}
    Task { print(token.byteCount) }
}
