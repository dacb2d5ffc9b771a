internal import Glibc

/// Says quickly that a stretch of eight bytes is none of many: the audit's inner loops, and where it reads by pointer.
///
/// Two tables of bits. Whoever adds a window of eight bytes adds it whole to the one, and to the other the four
/// stretches of four bytes in it that can lie at a multiple of four in a text. So a look at every fourth byte, in a
/// table that a processor keeps near, meets each window whatever its offset; what is stopped at is looked up whole.
/// Both tables say yes too often and never no wrongly, so whoever asks checks again.
struct WindowFilter: ~Copyable {
    static let windowByteCount = 8

    private var grams: [UInt64]
    private let gramShift: UInt32
    private var windows: [UInt64]
    private let windowShift: UInt64

    /// - Parameter windowCount: how many windows will be added. The tables are made so large that a place of ordinary
    ///   text is stopped at seldom, and no larger than 256 KiB together.
    init(windowCount: Int) {
        let bitCount = max(12, min(20, Int.bitWidth - (windowCount * 16).leadingZeroBitCount))
        grams = Array(repeating: 0, count: 1 << (bitCount - 6))
        windows = grams
        gramShift = UInt32(32 - bitCount)
        windowShift = UInt64(64 - bitCount)
    }

    /// Multiplicative hashing: only the high bits depend on all of the window.
    static func hash(_ window: UInt64) -> UInt64 { window &* 0x9E37_79B9_7F4A_7C15 }

    /// Adds a window, its first byte lowest.
    mutating func add(_ window: UInt64) {
        let bit = Self.hash(window) >> windowShift
        windows[Int(bit >> 6)] |= 1 << (bit & 63)
        for start in UInt64(0)..<4 {
            let bit = Self.place(UInt32(truncatingIfNeeded: window >> (8 * start)), gramShift)
            grams[bit >> 6] |= 1 << UInt64(bit & 63)
        }
    }

    private static func place(_ gram: UInt32, _ shift: UInt32) -> Int {
        Int(truncatingIfNeeded: (gram &* 0x9E37_79B1) >> shift)
    }

    private static func isSet(_ bits: UnsafeBufferPointer<UInt64>, _ bit: Int) -> Bool {
        unsafe bits[bit >> 6] >> UInt64(bit & 63) & 1 == 1
    }

    /// Returns the first offset, from `start` to `end`, whose eight bytes may be a window that was added.
    ///
    /// - Parameter end: at most eight less than the text's length.
    func nextCandidate(in text: [UInt8], from start: Int, to end: Int) -> Int? {
        unsafe text.withUnsafeBytes { text in
            unsafe grams.withUnsafeBufferPointer { grams in
                unsafe windows.withUnsafeBufferPointer { windows in
                    let (gramShift, windowShift) = (gramShift, windowShift)
                    // A window that begins at one of the three bytes before a multiple of four, or at it, holds the
                    // four bytes there: each window is met at one place.
                    var offset = (start + 3) & ~3
                    while offset <= end + 3 {
                        let gram = unsafe UInt32(
                            littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                        if unsafe Self.isSet(grams, Self.place(gram, gramShift)) {
                            var first = max(start, offset - 3)
                            while first <= min(offset, end) {
                                let window = unsafe UInt64(
                                    littleEndian: text.loadUnaligned(fromByteOffset: first, as: UInt64.self))
                                let bit = Self.hash(window) >> windowShift
                                if unsafe Self.isSet(windows, Int(truncatingIfNeeded: bit)) { return first }
                                first &+= 1
                            }
                        }
                        offset &+= 4
                    }
                    return nil
                }
            }
        }
    }

    // MARK: - Across line breaks

    /// Whether eight bytes that a line break, or several, lie between may be a window that was added: with the breaks
    /// left out. Only the bytes beside breaks are looked at.
    ///
    /// - Parameter isWindow: whether a window that may have been added was.
    func hasCandidateAcrossBreaks(in text: [UInt8], where isWindow: (UInt64) -> Bool) -> Bool {
        unsafe text.withUnsafeBytes { text in
            guard let base = text.baseAddress else { return false }
            // The last eight bytes that are no breaks, the latest one highest, and how many there were.
            var (last, count) = (UInt64(0), 0)
            var (lineFeed, carriageReturn) = (-1, -1)
            var offset = 0
            while offset < text.count {
                if lineFeed < offset { lineFeed = unsafe Self.next(0x0A, in: text, base, from: offset) }
                if carriageReturn < offset { carriageReturn = unsafe Self.next(0x0D, in: text, base, from: offset) }
                let end = min(lineFeed, carriageReturn)
                // Windows that begin before the break and end in this line end in its first seven bytes.
                let sinceBreak = count == 0 ? offset : min(end, offset + Self.windowByteCount - 1)
                while offset < sinceBreak {
                    last = unsafe last >> 8 | UInt64(text[offset]) << 56
                    count += 1
                    offset += 1
                    if count >= Self.windowByteCount, mayHold(last), isWindow(last) { return true }
                }
                if end - offset >= Self.windowByteCount {
                    last = unsafe UInt64(
                        littleEndian: text.loadUnaligned(fromByteOffset: end - Self.windowByteCount, as: UInt64.self))
                } else {
                    while offset < end {
                        last = unsafe last >> 8 | UInt64(text[offset]) << 56
                        offset += 1
                        count += 1
                    }
                }
                count += end - offset
                offset = end + 1
            }
            return false
        }
    }

    private func mayHold(_ window: UInt64) -> Bool {
        let bit = Int(truncatingIfNeeded: Self.hash(window) >> windowShift)
        return windows[bit >> 6] >> UInt64(bit & 63) & 1 == 1
    }

    /// Where the next such byte is, or the text's end.
    private static func next(
        _ byte: Int32, in text: UnsafeRawBufferPointer, _ base: UnsafeRawPointer, from offset: Int
    ) -> Int {
        guard let found = unsafe memchr(base + offset, byte, text.count - offset) else { return text.count }
        return unsafe UnsafeRawPointer(found) - base
    }
}
