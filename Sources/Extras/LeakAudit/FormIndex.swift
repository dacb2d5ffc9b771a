internal import LatchkeySystem

/// Finds the forms of all canaries in one pass over the bytes.
///
/// Each stretch of eight bytes of each form is in a hash table behind a table of bits: only what has its bit set leads
/// to the hash table, and only equal bytes to a finding.
struct FormIndex: ~Copyable {
    static let windowByteCount = 8

    struct Match {
        let form: Int
        /// In the text.
        let range: Range<Int>
    }

    private(set) var forms: [EncodedForm]
    /// A bit for each window's hash: it says yes too often, and never no wrongly.
    private var bits: [UInt64]
    private let bitShift: UInt64
    /// Index into `windows` plus one, or 0.
    private var slots: [UInt32]
    private let slotShift: UInt64
    private var windows: [Window] = []

    private struct Window {
        let form: UInt32
        let position: UInt32
    }

    init(_ forms: [EncodedForm]) {
        self.forms = forms
        let count = max(1, forms.reduce(0) { $0 + $1.bytes.count })
        let slotCount = 1 << (Int.bitWidth - (count * 2).leadingZeroBitCount)
        slots = Array(repeating: 0, count: slotCount)
        slotShift = UInt64(64 - slotCount.trailingZeroBitCount)
        // Large enough to skip most ordinary text, and at most 128 KiB.
        let bitCount = max(12, min(20, slotCount.trailingZeroBitCount + 3))
        bits = Array(repeating: 0, count: 1 << (bitCount - 6))
        bitShift = UInt64(64 - bitCount)
        for (number, form) in forms.enumerated() where form.bytes.count >= Self.windowByteCount {
            for position in 0...form.bytes.count - Self.windowByteCount {
                insert(Window(form: UInt32(number), position: UInt32(position)))
            }
        }
    }

    deinit {
        var forms = forms
        for index in forms.indices { forms[index].wipe() }
    }

    // MARK: - Building

    /// Multiplicative hashing: only the high bits depend on all of the window.
    private static func hash(_ window: UInt64) -> UInt64 { window &* 0x9E37_79B9_7F4A_7C15 }

    private func slot(_ window: UInt64) -> Int { Int(truncatingIfNeeded: Self.hash(window) >> slotShift) }

    private static func load(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }

    private func value(_ window: Window) -> UInt64 {
        Self.load(forms[Int(window.form)].bytes, at: Int(window.position))
    }

    private mutating func insert(_ window: Window) {
        let bytes = value(window)
        let bit = Self.hash(bytes) >> bitShift
        bits[Int(bit >> 6)] |= 1 << (bit & 63)
        windows.append(window)
        var slot = slot(bytes)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(windows.count)
    }

    // MARK: - Searching

    /// Returns the longest match at each place of the text, in order and without overlap.
    func matches(in text: [UInt8]) -> [Match] {
        var found: [Match] = []
        search(text, from: 0, to: text.count - Self.windowByteCount, into: &found)
        return found
    }

    /// Finds the matches that lie across one of the seams. Only the windows over a seam are looked up.
    func matches(in text: [UInt8], across seams: [Int]) -> [Match] {
        var found: [Match] = []
        var next = 0
        for seam in seams {
            let start = max(next, seam - Self.windowByteCount + 1)
            search(text, from: start, to: min(seam - 1, text.count - Self.windowByteCount), into: &found)
            next = max(next, seam)
        }
        return found
    }

    private func search(_ text: [UInt8], from start: Int, to end: Int, into found: inout [Match]) {
        var offset = max(start, found.last?.range.upperBound ?? 0)
        while offset <= end {
            guard let candidate = nextCandidate(in: text, from: offset, to: end) else { break }
            if let match = longestMatch(in: text, at: candidate, notBefore: found.last?.range.upperBound ?? 0) {
                found.append(match)
                offset = max(candidate + 1, match.range.upperBound)
            } else {
                offset = candidate + 1
            }
        }
    }

    /// The first place, from `start` to `end`, whose eight bytes may be a window. Read by pointer: it is the audit's
    /// inner loop.
    private func nextCandidate(in text: [UInt8], from start: Int, to end: Int) -> Int? {
        unsafe text.withUnsafeBytes { text in
            unsafe bits.withUnsafeBufferPointer { bits in
                var offset = start
                while offset <= end {
                    let window = unsafe UInt64(
                        littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    let bit = Self.hash(window) >> bitShift
                    if unsafe bits[Int(truncatingIfNeeded: bit >> 6)] >> (bit & 63) & 1 == 1 { return offset }
                    offset &+= 1
                }
                return nil
            }
        }
    }

    private func longestMatch(in text: [UInt8], at offset: Int, notBefore start: Int) -> Match? {
        let bytes = Self.load(text, at: offset)
        var slot = slot(bytes)
        var best: Match?
        while slots[slot] != 0 {
            let window = windows[Int(slots[slot]) - 1]
            if value(window) == bytes {
                let match = extend(window, in: text, at: offset, notBefore: start)
                if match.range.count >= forms[match.form].fragment, match.range.count > best?.range.count ?? 0 {
                    best = match
                }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return best
    }

    /// Grows a window to both sides as far as form and text agree.
    private func extend(_ window: Window, in text: [UInt8], at offset: Int, notBefore start: Int) -> Match {
        let form = forms[Int(window.form)].bytes
        var low = (form: Int(window.position), text: offset)
        while low.form > 0, low.text > start, form[low.form - 1] == text[low.text - 1] {
            low = (low.form - 1, low.text - 1)
        }
        var high = (form: Int(window.position) + Self.windowByteCount, text: offset + Self.windowByteCount)
        while high.form < form.count, high.text < text.count, form[high.form] == text[high.text] {
            high = (high.form + 1, high.text + 1)
        }
        return Match(form: Int(window.form), range: low.text..<high.text)
    }
}

/// A match in a stream, line breaks or none.
struct FormMatch {
    let form: Int
    let encoding: LeakEncoding
    /// In the stream.
    let range: Range<Int>
    let isWhole: Bool

    /// All matches in `stream`, first in the text itself, then across its line breaks.
    static func all(of index: borrowing FormIndex, in stream: [UInt8]) -> [FormMatch] {
        var found: [FormMatch] = []
        for match in index.matches(in: stream) {
            let form = index.forms[match.form]
            found.append(
                FormMatch(
                    form: match.form, encoding: form.encoding, range: match.range,
                    isWhole: match.range.count == form.bytes.count))
        }
        let (joined, seams) = join(stream)
        for match in index.matches(in: joined, across: seams) {
            let form = index.forms[match.form]
            // Across a break two unrelated pieces may meet, so twice as much must agree.
            guard match.range.count >= min(form.bytes.count, form.fragment * 2) else { continue }
            let range = place(of: match.range, in: stream)
            guard range.count > match.range.count, !found.contains(where: { $0.covers(range) }) else { continue }
            found.append(
                FormMatch(
                    form: match.form, encoding: .splitOverLines, range: range,
                    isWhole: match.range.count == form.bytes.count))
        }
        for decoded in DecodedText.all(of: stream) {
            for match in index.matches(in: decoded.bytes) {
                let form = index.forms[match.form]
                let range = decoded.range(match.range)
                // One without an escape in it was found already.
                guard form.encoding == (decoded.encoding == .byteList ? .byteList : .plain),
                    range.count != match.range.count, !found.contains(where: { $0.covers(range) })
                else { continue }
                found.append(
                    FormMatch(
                        form: match.form, encoding: decoded.encoding, range: range,
                        isWhole: match.range.count == form.bytes.count))
            }
        }
        return found
    }

    private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    /// The stream without its line breaks, and where in it they were, in order.
    private static func join(_ stream: [UInt8]) -> (bytes: [UInt8], seams: [Int]) {
        var joined: [UInt8] = []
        joined.reserveCapacity(stream.count)
        var seams: [Int] = []
        var start = 0
        func take(to end: Int) {
            if end > start { joined += stream[start..<end] }
            if seams.last != joined.count { seams.append(joined.count) }
            start = end + 1
        }
        unsafe stream.withUnsafeBytes { bytes in
            for offset in bytes.indices where unsafe isBreak(bytes[offset]) { take(to: offset) }
        }
        joined += stream[start...]
        return (joined, seams)
    }

    private func covers(_ other: Range<Int>) -> Bool {
        range.contains(other.lowerBound) && range.upperBound >= other.upperBound
    }

    /// Where a range of the joined text lies in the stream.
    private static func place(of range: Range<Int>, in stream: [UInt8]) -> Range<Int> {
        var count = 0
        var start = 0
        for (offset, byte) in stream.enumerated() where !isBreak(byte) {
            if count == range.lowerBound { start = offset }
            count += 1
            if count == range.upperBound { return start..<offset + 1 }
        }
        return start..<stream.count
    }
}

/// A stream with one kind of escapes undone, because programs don't agree on what they escape; or the numbers of bytes in
/// it, however they are separated, as in `dump`.
private struct DecodedText {
    let encoding: LeakEncoding
    private(set) var bytes: [UInt8] = []
    /// Where pieces of the stream begin in `bytes` and in the stream, in order.
    private var places: [(decoded: Int, original: Int)] = []

    private init(_ encoding: LeakEncoding) {
        self.encoding = encoding
    }

    static func all(of stream: [UInt8]) -> [DecodedText] {
        [
            undoing(.percentEncoded, UInt8(ascii: "%"), in: stream, percent),
            undoing(.jsonEscaped, UInt8(ascii: "\\"), in: stream, json),
            undoing(.htmlEscaped, UInt8(ascii: "&"), in: stream, html), numbers(in: stream),
        ].filter { !$0.places.isEmpty }
    }

    /// The range of the stream that a range of `bytes` comes from.
    func range(_ range: Range<Int>) -> Range<Int> { original(range.lowerBound)..<original(range.upperBound) }

    private func original(_ offset: Int) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].decoded <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return offset }
        return places[low - 1].original + offset - places[low - 1].decoded
    }

    // MARK: - Escapes

    /// - Parameter escape: returns what an escape stands for and how long it is.
    private static func undoing(
        _ encoding: LeakEncoding, _ mark: UInt8, in stream: [UInt8],
        _ escape: (ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)?
    ) -> DecodedText {
        var text = DecodedText(encoding)
        var offset = 0
        while let next = stream[offset...].firstIndex(of: mark) {
            text.bytes += stream[offset..<next]
            if let found = escape(stream[(next + 1)...].prefix(12)) {
                text.bytes += found.bytes
                offset = next + 1 + found.length
                text.places.append((text.bytes.count, offset))
            } else {
                text.bytes.append(mark)
                offset = next + 1
            }
        }
        if !text.places.isEmpty { text.bytes += stream[offset...] }
        return text
    }

    /// - Parameter count: how many digits there must be.
    private static func number(_ digits: ArraySlice<UInt8>, radix: Int, count: Int? = nil) -> UInt32? {
        // `UInt32` takes a sign as well.
        guard digits.count == count ?? digits.count, digits.allSatisfy({ ASCII.hexValue($0) != nil })
        else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
    }

    private static func character(_ number: UInt32?) -> [UInt8]? {
        number.flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) }
    }

    private static func percent(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        number(rest.prefix(2), radix: 16, count: 2).map { ([UInt8(truncatingIfNeeded: $0)], 2) }
    }

    private static func json(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        switch rest.first {
        case UInt8(ascii: "u"):
            return character(number(rest.dropFirst().prefix(4), radix: 16, count: 4)).map { ($0, 5) }
        case UInt8(ascii: "n"): return ([0x0A], 1)
        case UInt8(ascii: "r"): return ([0x0D], 1)
        case UInt8(ascii: "t"): return ([0x09], 1)
        case .some(let byte) where "\"\\/'".utf8.contains(byte): return ([byte], 1)
        default: return nil
        }
    }

    private static let names: [(name: String, byte: UInt8)] = [
        ("amp", 0x26), ("lt", 0x3C), ("gt", 0x3E), ("quot", 0x22), ("apos", 0x27),
    ]

    private static func html(_ rest: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = rest[..<end]
        let length = name.count + 1
        if let known = names.first(where: { $0.name.utf8.elementsEqual(name) }) { return ([known.byte], length) }
        guard name.first == UInt8(ascii: "#") else { return nil }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        let value = isHexadecimal ? number(digits.dropFirst(), radix: 16) : number(digits, radix: 10)
        return character(value).map { ($0, length) }
    }

    // MARK: - Numbers

    /// So many in a row are written as `107, 74, …`.
    private static let leastNumberCount = 8
    /// `dump` indents each.
    private static let longestGap = 32

    private static func numbers(in stream: [UInt8]) -> DecodedText {
        var text = DecodedText(.byteList)
        var row: [(start: Int, end: Int)] = []
        func finish() {
            if row.count >= leastNumberCount {
                for (start, end) in row {
                    text.places.append((text.bytes.count, start))
                    text.bytes += stream[start..<end] + [0x2C, 0x20]
                }
                text.bytes.append(0x0A)
            }
            row = []
        }
        var offset = 0
        while let start = stream[offset...].firstIndex(where: { (0x30...0x39).contains($0) }) {
            let end = stream[start...].firstIndex { !(0x30...0x39).contains($0) } ?? stream.count
            let isByte = end - start <= 3 && number(stream[start..<end], radix: 10).map { $0 <= 255 } ?? false
            if let last = row.last, !isByte || start - last.end > longestGap { finish() }
            if isByte { row.append((start, end)) }
            offset = end
        }
        finish()
        return text
    }
}
