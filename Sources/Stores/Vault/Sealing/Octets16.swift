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
        for (index, byte) in bytes.prefix(Self.byteCount).enumerated() {
            let shift = UInt64(56 - index % 8 * 8)
            if index < 8 { words.high |= UInt64(byte) << shift } else { words.low |= UInt64(byte) << shift }
        }
        (high, low) = words
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
