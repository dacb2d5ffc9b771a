import LatchkeySecrets

func compare(_ token: borrowing Secret<AccessToken>, _ other: borrowing Secret<RefreshToken>) -> Bool {
    token.matches(other)
}

func make(_ bytes: [UInt8]) -> Secret<AccessToken> {
    Secret(copying: bytes.span)
}
