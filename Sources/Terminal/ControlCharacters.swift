internal import LatchkeySecrets
internal import LatchkeySystem

/// The characters that a terminal obeys instead of showing them: C0 without tab and line feed, DEL, C1, and bytes that
/// aren't UTF-8, which a terminal of another character set may take for C1.
enum ControlCharacters {
    /// The bytes with each control character as `\xHH`, byte by byte. A carriage return before a line feed stays.
    static func escaped(_ bytes: Span<UInt8>) -> SecretBuilder {
        // There is room for everything, so nothing is thrown.
        var result = SecretBuilder(capacity: 4 * bytes.count)
        var index = 0
        while index < bytes.count {
            let count = characterByteCount(bytes, index)
            for place in index..<(index + max(count, 1)) {
                let byte = bytes[place]
                if count > 0 {
                    try? result.append(byte)
                } else {
                    try? result.append(publicText: "\\x")
                    try? result.append(ASCII.hexDigit(byte >> 4))
                    try? result.append(ASCII.hexDigit(byte & 0xF))
                }
            }
            index += max(count, 1)
        }
        return result
    }

    /// The length of the character that may be shown, or 0 for a byte that may not.
    private static func characterByteCount(_ bytes: Span<UInt8>, _ index: Int) -> Int {
        let byte = bytes[index]
        switch byte {
        case 0x09, 0x0A: return 1
        case 0x0D: return bytes.starts(with: "\n", at: index + 1) ? 1 : 0
        case 0..<0x20, 0x7F: return 0
        case ..<0x80: return 1
        default:
            let count = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            guard index + count <= bytes.count,
                (try? UTF8Span(validating: bytes.extracting(index..<(index + count)))) != nil
            else { return 0 }
            return byte == 0xC2 && bytes[index + 1] < 0xA0 ? 0 : count
        }
    }
}
