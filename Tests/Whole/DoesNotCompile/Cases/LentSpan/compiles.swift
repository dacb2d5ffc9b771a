import LatchkeySecrets

private func count(_ token: borrowing Secret<AccessToken>) -> Int {
    token.withExposedBytes { bytes in
        var ones = 0
        for index in bytes.indices where bytes[index] == 1 { ones += 1 }
        print(ones)
        return ones
    }
}
