import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {  // expected-error {{'token' cannot be captured by an escaping closure since it is a borrowed parameter}}
    let show = { @Sendable in print(token.byteCount) }
    show()
    show()
    print(token.byteCount)
}
