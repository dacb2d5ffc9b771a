package import LatchkeySecrets
internal import LatchkeySystem

/// What is to be replaced in a program's output: secrets line by line, as they are, in base64, percent-encoded
/// and as JSON has them.
package struct SecretMask: ~Copyable {
    /// The shortest line that is replaced: a shorter one stands in other words.
    package static let minimumByteCount = 4
    /// Of a longer secret encodings aren't looked for.
    private static let mostEncodedBytes = 4096

    /// All patterns, one behind the other.
    private var text = SecretBuilder()
    private(set) var patterns: [Range<Int>] = []
    /// The patterns that begin with a byte.
    private var beginning: [[Int]] = Array(repeating: [], count: 256)

    package init() {}

    /// Returns `false` when nothing of a secret is long enough.
    package mutating func add<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> Bool {
        if secret.isEmpty { return true }
        let before = patterns.count
        secret.withExposedBytes { bytes in
            var start = 0
            for end in 0...bytes.count where end == bytes.count || bytes[end] == 0x0A {
                let hasReturn = end > start && bytes[end - 1] == 0x0D
                add(bytes.extracting(start..<(hasReturn ? end - 1 : end)))
                start = end + 1
            }
        }
        guard patterns.count > before else { return false }
        if secret.byteCount <= Self.mostEncodedBytes { addEncodings(of: secret) }
        return true
    }

    private mutating func add(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.minimumByteCount else { return }
        let start = text.byteCount
        // It has no limit.
        try? text.append(bytes)
        beginning[Int(bytes[0])].append(patterns.count)
        patterns.append(start..<text.byteCount)
    }

    /// In base64 a secret looks in three ways, by where it begins in what is encoded: the characters that are its own
    /// alone are looked for.
    private mutating func addEncodings<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>) {
        for shift in 0..<3 {
            var shifted = SecretBuilder()
            for _ in 0..<shift { try? shifted.append(0) }
            try? shifted.append(secret)
            let whole = shifted.finish(as: MessageBody.self)
            let own = (shift * 8 + 5) / 6..<(shift + secret.byteCount) * 8 / 6
            whole.base64Encoded().withExposedBytes { add($0.extracting(own)) }
            whole.base64URLEncoded().withExposedBytes { add($0.extracting(own)) }
        }
        // RFC 3986, and what Python's `quote` and JavaScript's `encodeURIComponent` leave as it is.
        for (digits, kept) in [
            ("0123456789ABCDEF", ""), ("0123456789abcdef", ""), ("0123456789ABCDEF", "/"),
            ("0123456789ABCDEF", "!'()*"),
        ] {
            let digits = Array(digits.utf8)
            addEscaped(secret) { byte in
                let isKept = ASCII.isUnreserved(byte) || kept.utf8.contains(byte)
                return isKept ? [] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        // A JSON string (RFC 8259, 7).
        addEscaped(secret) { byte in
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : []
        }
    }

    /// Adds a secret in which some bytes are written otherwise; the escape of a byte that stays is empty.
    private mutating func addEscaped<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ escape: (UInt8) -> [UInt8]
    ) {
        var escaped = SecretBuilder()
        secret.withExposedBytes { bytes in
            for index in bytes.indices {
                let other = escape(bytes[index])
                if other.isEmpty { try? escaped.append(bytes[index]) }
                for byte in other { try? escaped.append(byte) }
            }
        }
        if escaped.byteCount > secret.byteCount { escaped.withExposedBytes { add($0) } }
    }

    // MARK: - Looking for them

    /// What of the patterns begins at a place.
    struct Beginning {
        /// The longest pattern that is there as a whole, or 0.
        var whole = 0
        /// The shortest pattern of which what is there is only the beginning, or `Int.max`.
        var shortestOpen = Int.max
    }

    borrowing func beginning(at index: Int, of bytes: Span<UInt8>) -> Beginning {
        var found = Beginning()
        text.withExposedBytes { text in
            for number in beginning[Int(bytes[index])] {
                let pattern = patterns[number]
                let count = min(pattern.count, bytes.count - index)
                var same = 1
                while same < count, text[pattern.lowerBound + same] == bytes[index + same] { same += 1 }
                guard same >= count else { continue }
                if count == pattern.count {
                    found.whole = max(found.whole, count)
                } else {
                    found.shortestOpen = min(found.shortestOpen, pattern.count)
                }
            }
        }
        return found
    }
}
