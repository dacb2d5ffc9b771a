import LatchkeySecrets

private func compare(_ token: borrowing Secret<AccessToken>, _ other: borrowing Secret<RefreshToken>) -> Bool {
    token.matches(other)
}

private func make(_ bytes: [UInt8]) -> Secret<AccessToken> {
    Secret(copying: bytes.span)
}
