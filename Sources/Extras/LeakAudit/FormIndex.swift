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
        // Large enough to skip most ordinary text, and at most 512 KiB.
        let bitCount = max(12, min(22, slotCount.trailingZeroBitCount + 5))
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

    /// Finds the matches that lie across one of the seams, by the windows over a seam only.
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
        func add(_ match: FormIndex.Match, _ range: Range<Int>, _ encoding: LeakEncoding, of form: EncodedForm) {
            let isWhole = match.range.count == form.bytes.count
            found.append(FormMatch(form: match.form, encoding: encoding, range: range, isWhole: isWhole))
        }
        for match in index.matches(in: stream) {
            let form = index.forms[match.form]
            add(match, match.range, form.encoding, of: form)
        }
        let joined = DecodedText(joining: stream)
        for match in index.matches(in: joined.bytes, across: joined.seams) {
            let form = index.forms[match.form]
            // Across a break two unrelated pieces may meet, so twice as much must agree.
            guard match.range.count >= min(form.bytes.count, form.fragment * 2) else { continue }
            let range = joined.range(match.range)
            guard range.count > match.range.count, !found.contains(where: { $0.covers(range) }) else { continue }
            add(match, range, .splitOverLines, of: form)
        }
        for decoded in DecodedText.all(of: stream, joined) {
            for match in index.matches(in: decoded.bytes) {
                let form = index.forms[match.form]
                guard !decoded.isJoined || match.range.count >= min(form.bytes.count, form.fragment * 2) else {
                    continue
                }
                let range = decoded.range(match.range)
                // One without an escape in it was found already.
                guard form.encoding == (decoded.encoding == .byteList ? .byteList : .plain),
                    !found.contains(where: { $0.covers(range) })
                else { continue }
                add(match, range, decoded.encoding, of: form)
            }
        }
        return found
    }

    private func covers(_ other: Range<Int>) -> Bool {
        range.contains(other.lowerBound) && range.upperBound >= other.upperBound
    }
}
