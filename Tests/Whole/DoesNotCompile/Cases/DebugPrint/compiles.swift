import LatchkeySecrets

private func show(_ token: borrowing Secret<AccessToken>) {
    debugPrint(token.byteCount)
}
