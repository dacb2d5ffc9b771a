package import LatchkeySecrets

/// The texts to replace in a program's output: each line of a secret verbatim, and each line and the whole secret in
/// the encodings of `SecretEncoding` and `Base64Form`.
///
/// A mask holds each secret once, in guarded memory. It compares a text with the secret while it decodes the text, so
/// an encoding needs no memory, and no secret is too long for one.
package struct SecretMask: ~Copyable {
    /// The shortest line that is replaced: a shorter one is part of other words.
    package static let minimumByteCount = 4

    /// All secrets, one after the other.
    private var text = SecretBuilder()
    private var parts: [SecretPart] = []
    /// The parts by their first four bytes.
    private var byBytes = PartIndex()
    /// The parts, three times each, by the first four characters of their base64.
    private var byBase64 = PartIndex()
    /// In which encodings a byte of a text may begin a part: most bytes begin none.
    private var first = [UInt8](repeating: 0, count: 256)

    package init() {}

    /// Returns `false` if no line of a secret is long enough.
    package mutating func add<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> Bool {
        if secret.isEmpty { return true }
        var lines: Set<Range<Int>> = []
        var lastEnd = 0
        secret.withExposedBytes { bytes in
            var start = 0
            for end in 0...bytes.count where end == bytes.count || bytes[end] == 0x0A {
                let hasReturn = end > start && bytes[end - 1] == 0x0D
                let line = start..<(hasReturn ? end - 1 : end)
                if line.count >= Self.minimumByteCount { lines.insert(line) }
                // If the secret ends with a line end, this is the part before it.
                if end == bytes.count - 1 || (end == bytes.count && start < end) { lastEnd = line.upperBound }
                start = end + 1
            }
        }
        guard !lines.isEmpty else { return false }
        let offset = text.byteCount
        // `text` grows without a limit, so this doesn't throw.
        try? text.append(secret)
        for range in lines.union([0..<secret.byteCount, 0..<lastEnd]) {
            add(SecretPart(range.lowerBound + offset..<range.upperBound + offset, isLine: lines.contains(range)))
        }
        return true
    }

    private mutating func add(_ part: SecretPart) {
        let number = parts.count
        parts.append(part)
        text.withExposedBytes { text in
            byBytes.add(number, SecretEncoding.key(of: part, in: text))
            for encoding in SecretEncoding.allCases {
                for byte in encoding.firstBytes(of: part, in: text) { first[Int(byte)] |= 1 << encoding.rawValue }
            }
            for shift in 0..<3 {
                let form = Base64Form(part, shift)
                byBase64.add(number * 3 + shift, form.key(in: text))
                for byte in form.firstBytes(in: text) { first[Int(byte)] |= Self.base64Bit }
            }
        }
    }

    // MARK: - Looking for them

    /// The part of the secrets that begins at a place.
    struct Beginning {
        /// How many bytes of the text the longest part takes that is there as a whole, or 0.
        var whole = 0
        /// Whether the text ends within what may become a part.
        var isOpen = false
        /// Whether more of such a part is there than may be shown: half of it, or 16 bytes or characters.
        var isMostlyThere = false

        mutating func take(_ match: SecretMatch) {
            switch match {
            case .none: break
            case .whole(let length): whole = max(whole, length)
            case .open(let done, let count):
                isOpen = true
                if done > min(count / 2, 16) { isMostlyThere = true }
            }
        }
    }

    private static let base64Bit: UInt8 = 1 << 7

    borrowing func beginning(at index: Int, of bytes: Span<UInt8>) -> Beginning {
        var found = Beginning()
        var encodings = first[Int(bytes[index])]
        if encodings == 0 { return found }
        if let key = SecretEncoding.plainKey(at: index, of: bytes), !byBytes.has(key) {
            encodings &= ~SecretEncoding.plainBits
        }
        text.withExposedBytes { text in
            for encoding in SecretEncoding.allCases where encodings & 1 << encoding.rawValue != 0 {
                let numbers: [Int]
                switch encoding.key(at: index, of: bytes) {
                case .none: continue
                case .cut: numbers = Array(parts.indices)
                case .key(let key): numbers = byBytes[key]
                }
                for number in numbers { found.take(encoding.match(parts[number], in: text, at: index, of: bytes)) }
            }
            if encodings & Self.base64Bit == 0 { return }
            let numbers: [Int]
            switch Base64Form.key(at: index, of: bytes) {
            case .none: return
            case .cut: numbers = Array(0..<parts.count * 3)
            case .key(let key): numbers = byBase64[key]
            }
            for number in numbers {
                found.take(Base64Form(parts[number / 3], number % 3).match(in: text, at: index, of: bytes))
            }
        }
        return found
    }
}

/// A line of a secret, or the whole secret with or without its last line end: a range of the mask's text.
struct SecretPart {
    let range: Range<Int>
    let isLine: Bool

    init(_ range: Range<Int>, isLine: Bool) {
        self.range = range
        self.isLine = isLine
    }
}

/// How a text compares with a part of a secret.
enum SecretMatch {
    case none
    /// The text has all of the part, in this many bytes.
    case whole(length: Int)
    /// The text ends within the part: it has `done` of `count` bytes or characters.
    case open(done: Int, count: Int)
}

/// Parts by a hash of how they begin, so that most places of a text are compared with none of them.
struct PartIndex {
    private var isTaken: [Bool] = []
    private var numbers: [Int: [Int]] = [:]

    private static func hash(_ key: UInt32) -> Int { Int((key &* 0x9E37_79B1) >> 16) }

    mutating func add(_ number: Int, _ key: UInt32) {
        // Most masks of most runs have nothing in them.
        if isTaken.isEmpty { isTaken = Array(repeating: false, count: 1 << 16) }
        isTaken[Self.hash(key)] = true
        numbers[Self.hash(key), default: []].append(number)
    }

    func has(_ key: UInt32) -> Bool { isTaken[Self.hash(key)] }

    subscript(key: UInt32) -> [Int] { has(key) ? numbers[Self.hash(key)] ?? [] : [] }
}

/// The first four bytes or characters at a place of a text.
enum PartKey {
    /// They begin no secret in this encoding.
    case none
    /// The text ends before.
    case cut
    case key(UInt32)
}
