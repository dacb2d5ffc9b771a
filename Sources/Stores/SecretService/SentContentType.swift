internal import LatchkeyCredentials
internal import LatchkeySecrets

extension SecretContentType {
    /// What a service is told that a secret is: text only where a service that takes it for text gives it back as it
    /// was.
    ///
    /// KeePassXC replaces placeholders such as `{TITLE}` in text, drops a byte order mark at its beginning, and can't
    /// keep every control character; KWallet ends text at a NUL. They keep bytes as they are.
    static func sent<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, as wanted: SecretContentType
    ) -> StaticString {
        let isPlain = wanted == .text && secret.withExposedBytes { survivesAsText($0) }
        return isPlain ? "text/plain" : "application/octet-stream"
    }

    private static func survivesAsText(_ bytes: Span<UInt8>) -> Bool {
        var opens = false
        var closes = false
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "{"): opens = true
            case UInt8(ascii: "}"): closes = true
            case 0x09, 0x0A, 0x0D: break
            case 0..<0x20, 0x7F: return false
            default: break
            }
        }
        let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        return !(opens && closes) && !hasMark && (try? UTF8Span(validating: bytes)) != nil
    }
}
