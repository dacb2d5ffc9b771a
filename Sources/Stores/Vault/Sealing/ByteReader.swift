internal import Glibc

/// Reads little-endian fields from untrusted bytes: each read is bounded, and `nil` at the end.
struct ByteReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var remainingByteCount: Int { bytes.count - offset }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= remainingByteCount else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let count = Number.bitWidth / 8
        guard count <= remainingByteCount else { return nil }
        var value: Number = 0
        for index in 0..<count { value |= Number(truncatingIfNeeded: bytes[offset + index]) << Number(index * 8) }
        offset += count
        return value
    }

    /// Text with its length before it.
    mutating func text<Length: FixedWidthInteger>(length: Length.Type, atMost limit: Int) -> String? {
        guard let count = integer(Length.self), Int(count) <= min(limit, remainingByteCount) else { return nil }
        defer { offset += Int(count) }
        guard let text = try? UTF8Span(validating: bytes.span.extracting(offset..<offset + Int(count))) else {
            return nil
        }
        return String(copying: text)
    }

    /// Goes past text with its length before it when it is exactly `expected`; otherwise returns false.
    mutating func skip<Length: FixedWidthInteger>(_ expected: String, length: Length.Type) -> Bool {
        var expected = expected
        return expected.withUTF8 { text in
            guard let count = integer(Length.self), Int(count) == text.count, text.count <= remainingByteCount else {
                return false
            }
            defer { offset += text.count }
            // An empty text may lack an address.
            return unsafe text.isEmpty
                || bytes.withUnsafeBufferPointer {
                    unsafe memcmp($0.baseAddress! + offset, text.baseAddress!, text.count) == 0
                }
        }
    }

    /// Whether everything left is zero, as padding is.
    func onlyPaddingIsLeft() -> Bool {
        var all: UInt8 = 0
        for index in offset..<bytes.count { all |= bytes[index] }
        return all == 0
    }

    var isAtEnd: Bool { remainingByteCount == 0 }
}

/// Writes what `ByteReader` reads.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: how many bytes are expected, for one allocation instead of several.
    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append<Length: FixedWidthInteger>(_ text: String, length: Length.Type) {
        append(Length(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Text whose end is known otherwise.
    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func pad(to count: Int) {
        precondition(bytes.count <= count)
        bytes += [UInt8](repeating: 0, count: count - bytes.count)
    }
}

/// Sixteen bytes, as a value that takes no memory of its own.
struct Octets16: Sendable, Hashable, Comparable {
    /// The first eight bytes as a big-endian number, so that these compare as the bytes do.
    private let high: UInt64
    private let low: UInt64

    static let byteCount = 16
    static let zero = Octets16([])

    /// The first sixteen bytes; what is missing is zero.
    init(_ bytes: some Sequence<UInt8>) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyBytes(from: Array(bytes.prefix(Self.byteCount))) }
        (high, low) = (words.high.bigEndian, words.low.bigEndian)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.append(high.byteSwapped)
        writer.append(low.byteSwapped)
        return writer.bytes
    }

    static func < (left: Octets16, right: Octets16) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}
