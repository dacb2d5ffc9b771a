/// Looking at bytes without copying them: they may be a secret.
extension Span<UInt8> {
    /// The ranges of the lines, with their ends.
    package var lines: [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        while start < count {
            let end = index(of: 0x0A, from: start).map { $0 + 1 } ?? count
            lines.append(start..<end)
            start = end
        }
        return lines
    }

    /// Calls `body` with each line, without its line break (LF, CR LF, or a CR at the end), and its number from 1.
    package func forEachLine<Failure: Error>(
        _ body: (Span<UInt8>, Int) throws(Failure) -> Void
    ) throws(Failure) {
        for (index, line) in lines.enumerated() {
            var end = line.upperBound
            if end > line.lowerBound && self[end - 1] == 0x0A { end -= 1 }
            if end > line.lowerBound && self[end - 1] == 0x0D { end -= 1 }
            try body(extracting(line.lowerBound..<end), index + 1)
        }
    }

    package func index(of byte: UInt8, from start: Int = 0) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    package func lastIndex(of byte: UInt8) -> Int? {
        var index = count
        while index > 0 {
            index -= 1
            if self[index] == byte { return index }
        }
        return nil
    }

    package func starts(with text: StaticString, at start: Int = 0) -> Bool {
        guard start + text.utf8CodeUnitCount <= count else { return false }
        return text.withUTF8Buffer { buffer in
            unsafe buffer.enumerated().allSatisfy { self[start + $0.offset] == $0.element }
        }
    }

    /// The ranges of all occurrences of a text.
    package func places(of text: String) -> [Range<Int>] {
        let wanted = Array(text.utf8)
        guard !wanted.isEmpty, count >= wanted.count else { return [] }
        return (0...(count - wanted.count)).filter { start in
            wanted.indices.allSatisfy { self[start + $0] == wanted[$0] }
        }.map { $0..<($0 + wanted.count) }
    }

    /// The text of bytes that aren't secret, such as a host or a user; `nil` for invalid UTF-8.
    package func publicText() -> String? {
        String(validating: indices.map { self[$0] }, as: UTF8.self)
    }

    /// The range without such bytes at its start and its end.
    package func trimmed(_ range: Range<Int>, where isSpace: (UInt8) -> Bool) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isSpace(self[start]) { start += 1 }
        while end > start, isSpace(self[end - 1]) { end -= 1 }
        return start..<end
    }

    /// Whether there is nothing but spaces and tabs.
    package var isBlank: Bool { indices.allSatisfy { self[$0] == 0x20 || self[$0] == 0x09 } }
}

extension MutableSpan<UInt8> {
    /// Overwrites what is from `start` on with `bytes`, which must fit.
    package mutating func update(from bytes: Span<UInt8>, at start: Int = 0) {
        precondition(start >= 0 && start <= count && bytes.count <= count - start)
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: bytes)
            }
        }
    }
}
