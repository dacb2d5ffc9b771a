/// The texts to replace in a program's output: each line of a secret, and the whole secret, in the encodings of
/// `SecretEncoding`.
///
/// A mask holds each secret once, in guarded memory. Short hashes of the first four bytes of each part are in ordinary
/// memory. The mask compares a text with the secret while it decodes the text. So an encoding needs no memory, and no
/// secret is too long for one.
package struct SecretMask: ~Copyable {
    /// The shortest line that is replaced: a shorter one is part of other words.
    package static let minimumByteCount = 4

    /// All secrets, one after the other.
    private var text = SecretBuilder()
    /// The lines of the secrets, and each secret as a whole: by their bytes, and in three ways by the characters of their
    /// base64.
    private var orders = [PartOrder()] + (0..<3).map { PartOrder(shift: $0) }
    /// In which encodings a byte of a text may begin a part: most bytes begin none.
    private var first = [UInt8](repeating: 0, count: 256)

    package init() {}

    /// Returns `false` if no line of a secret is long enough.
    ///
    /// Blanks at the ends of a line don't belong to the line. Blanks and line breaks at the ends of the whole secret
    /// don't belong to the secret. Both rules need a line that is long enough without blanks. The reason is that blanks
    /// aren't secret and a text may have others there. The whole secret with the blanks after it is a part, too: its
    /// last byte shares a character of base64 with them.
    package mutating func add<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> Bool {
        if secret.isEmpty { return true }
        var (lines, wideLines): (Set<Range<Int>>, Set<Range<Int>>) = ([], [])
        var whole = 0..<0
        secret.withExposedBytes { bytes in
            var start = 0
            for end in 0...bytes.count where end == bytes.count || bytes[end] == 0x0A {
                let line = bytes.trimmed(start..<end, where: Self.isBlank)
                if line.count >= Self.minimumByteCount { lines.insert(line) }
                if end - start >= Self.minimumByteCount { wideLines.insert(start..<end) }
                start = end + 1
            }
            whole = lines.isEmpty ? 0..<bytes.count : bytes.trimmed(0..<bytes.count, where: Self.isBlank)
        }
        if lines.isEmpty { lines = wideLines }
        guard !lines.isEmpty else { return false }
        let offset = text.byteCount
        // `text` grows without a limit, so this doesn't throw.
        try? text.append(secret)
        let parts = lines.union([whole, whole.lowerBound..<secret.byteCount]).map {
            $0.lowerBound + offset..<$0.upperBound + offset
        }
        text.withExposedBytes { text in
            for number in orders.indices { orders[number].take(parts, of: text) }
            for encoding in SecretEncoding.allCases {
                for order in orders[Self.numbers(of: encoding)] {
                    for part in parts {
                        for byte in encoding.firstBytes(of: order.symbol(0, of: part, in: text)) {
                            first[Int(byte)] |= 1 << encoding.rawValue
                        }
                    }
                }
            }
        }
        return true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Which orders an encoding is compared with.
    private static func numbers(of encoding: SecretEncoding) -> Range<Int> { encoding == .base64 ? 1..<4 : 0..<1 }

    // MARK: - Looking for them

    /// The part of the secrets that begins at a place.
    struct Beginning {
        /// How many bytes of the text the longest part takes that is there as a whole, or 0.
        var whole = 0
        /// Whether the text ends within what may become a part.
        var isOpen = false
        /// Whether more of such a part is there than may be shown: half of it, or 16 bytes or characters.
        var isMostlyThere = false
    }

    borrowing func beginning(at index: Int, of bytes: Span<UInt8>) -> Beginning {
        var found = Beginning()
        var encodings = first[Int(bytes[index])]
        if encodings == 0 { return found }
        // As they are, four bytes mean the same in these two.
        if let key = SecretEncoding.plainKey(at: index, of: bytes), !orders[0].has(key) {
            encodings &= ~SecretEncoding.plainBits
        }
        if encodings == 0 { return found }
        text.withExposedBytes { text in
            for encoding in SecretEncoding.allCases where encodings & 1 << encoding.rawValue != 0 {
                let key = encoding.key(at: index, of: bytes)
                if case .none = key { continue }
                for number in Self.numbers(of: encoding) {
                    if case .known(let key) = key, !orders[number].has(key) { continue }
                    Self.search(encoding, orders[number], at: index, of: bytes, text, &found)
                }
            }
        }
        return found
    }

    /// Reads the text with all parts at once: each unit removes the parts that continue differently.
    private static func search(
        _ encoding: SecretEncoding, _ order: PartOrder, at index: Int, of bytes: Span<UInt8>, _ text: Span<UInt8>,
        _ found: inout Beginning
    ) {
        var places = [Place(run: order.all, index: index)]
        var seen: Set<Place> = []
        while var place = places.popLast() {
            while !place.run.range.isEmpty {
                if place.index < bytes.count, let other = encoding.otherMeaning(of: bytes[place.index]) {
                    guard seen.insert(place).inserted else { break }
                    var branch = Place(run: place.run, index: place.index + 1)
                    order.narrow(&branch.run, to: other, in: text)
                    if order.takeEnded(&branch.run) {
                        found.whole = max(found.whole, branch.index - index)
                    }
                    places.append(branch)
                }
                guard case .unit(let unit) = encoding.unit(at: place.index, of: bytes, isFirst: place.index == index)
                else { break }
                place.index += unit.length
                for number in 0..<unit.count where !place.run.range.isEmpty {
                    // A part that ends within a unit isn't there as a whole.
                    if number > 0 { _ = order.takeEnded(&place.run) }
                    order.narrow(&place.run, to: UInt8(truncatingIfNeeded: unit.bytes >> (8 * number)), in: text)
                }
                if order.takeEnded(&place.run) {
                    found.whole = max(found.whole, place.index - index)
                }
            }
            if place.run.range.isEmpty { continue }
            guard case .cut = encoding.unit(at: place.index, of: bytes, isFirst: place.index == index) else { continue }
            found.isOpen = true
            for part in order.parts[place.run.range] {
                if place.run.depth > min(order.count(of: part) / 2, 16) { found.isMostlyThere = true }
            }
        }
    }

    /// Where a search is in a text.
    private struct Place: Hashable {
        var run: PartOrder.Run
        var index: Int
    }
}

/// Parts of secrets, which are ranges of a mask's text, in the order of their symbols: their bytes, or the characters of
/// their base64. Those that begin like a text are next to each other, however many they are.
struct PartOrder {
    /// Parts that begin with the same symbols, all of them longer than that.
    struct Run: Hashable {
        var range: Range<Int>
        /// How many symbols they have in common.
        var depth = 0
    }

    private(set) var parts: [Range<Int>] = []
    /// The number of bytes before a part in a group of three, for base64.
    private let shift: Int?
    /// Which hashes of four symbols begin a part, so that most places of a text are compared with none.
    private var isTaken: [Bool] = []

    init(shift: Int? = nil) { self.shift = shift }

    var all: Run { Run(range: parts.indices) }

    /// Adds parts. Of equal ones it keeps one.
    mutating func take(_ parts: [Range<Int>], of text: Span<UInt8>) {
        // Most masks of most runs have nothing in them.
        if isTaken.isEmpty { isTaken = Array(repeating: false, count: 1 << 16) }
        for part in parts {
            let key = (0..<4).reduce(0) { $0 | UInt32(symbol($1, of: part, in: text)) << UInt32(8 * $1) }
            isTaken[Self.hash(key)] = true
        }
        let sorted = (self.parts + parts).sorted { isBefore($0, $1, in: text) }
        self.parts = []
        for part in sorted {
            if let last = self.parts.last, !isBefore(last, part, in: text) { continue }
            self.parts.append(part)
        }
    }

    /// Whether a part's symbols come before another's; where one begins with the other, the shorter is first.
    private func isBefore(_ left: Range<Int>, _ right: Range<Int>, in text: Span<UInt8>) -> Bool {
        let (leftCount, rightCount) = (count(of: left), count(of: right))
        for number in 0..<min(leftCount, rightCount) {
            let (one, other) = (symbol(number, of: left, in: text), symbol(number, of: right, in: text))
            if one != other { return one < other }
        }
        return leftCount < rightCount
    }

    private static func hash(_ key: UInt32) -> Int { Int((key &* 0x9E37_79B1) >> 16) }

    func has(_ key: UInt32) -> Bool { isTaken[Self.hash(key)] }

    // MARK: - Symbols

    /// The first character of base64 that holds bits of a part alone, counted from the first one of its group.
    private static func firstCharacter(_ shift: Int) -> Int { (shift * 8 + 5) / 6 }

    func count(of part: Range<Int>) -> Int {
        guard let shift else { return part.count }
        return (shift + part.count) * 8 / 6 - Self.firstCharacter(shift)
    }

    func symbol(_ number: Int, of part: Range<Int>, in text: Span<UInt8>) -> UInt8 {
        guard let shift else { return text[part.lowerBound + number] }
        let bit = (Self.firstCharacter(shift) + number) * 6 - shift * 8
        let place = part.lowerBound + bit / 8
        let low = place + 1 < part.upperBound ? UInt32(text[place + 1]) : 0
        return UInt8((UInt32(text[place]) << 8 | low) >> UInt32(10 - bit % 8) & 63)
    }

    // MARK: - Runs

    /// Takes away the parts whose next symbol is another one.
    func narrow(_ run: inout Run, to symbol: UInt8, in text: Span<UInt8>) {
        if run.range.isEmpty { return }
        let depth = run.depth
        run.depth += 1
        if self.symbol(depth, of: parts[run.range.lowerBound], in: text) == symbol,
            self.symbol(depth, of: parts[run.range.upperBound - 1], in: text) == symbol
        {
            return
        }
        let start = firstPlace(in: run.range) { self.symbol(depth, of: $0, in: text) >= symbol }
        let end = firstPlace(in: start..<run.range.upperBound) { self.symbol(depth, of: $0, in: text) > symbol }
        run.range = start..<end
    }

    /// The first part of a range from which on all are such parts.
    private func firstPlace(in range: Range<Int>, where isSuch: (Range<Int>) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isSuch(parts[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Removes the parts that end here, and returns whether there were any.
    func takeEnded(_ run: inout Run) -> Bool {
        var end = run.range.lowerBound
        while end < run.range.upperBound, count(of: parts[end]) == run.depth { end += 1 }
        defer { run.range = end..<run.range.upperBound }
        return end > run.range.lowerBound
    }
}
