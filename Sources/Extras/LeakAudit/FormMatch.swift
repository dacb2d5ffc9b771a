/// A match in a stream, line breaks or none.
struct FormMatch {
    let form: Int
    let encoding: LeakEncoding
    /// In the stream.
    let range: Range<Int>
    let isWhole: Bool

    /// Everything that is in `stream`: as it stands, and then across its line breaks.
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
