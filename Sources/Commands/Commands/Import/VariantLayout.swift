internal import LatchkeySystem

/// Where the parts of a serialised GVariant are (GVariant specification, 2.3): little-endian, of types known before.
///
/// Positions count from the start of the value. Every length comes from the file, so each step may find that a part
/// can't be there, and returns `nil` then.
enum VariantLayout {
    /// How many bytes a framing offset has in a container of this size.
    static func offsetSize(_ byteCount: Int) -> Int {
        switch byteCount {
        case ...0xFF: 1
        case ...0xFFFF: 2
        case ...0xFFFF_FFFF: 4
        default: 8
        }
    }

    /// A little-endian number of 1 to 8 bytes.
    static func number(_ bytes: Span<UInt8>, at position: Int, size: Int) -> UInt64? {
        guard position >= 0, size >= 0, position <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for index in (0..<size).reversed() { value = value << 8 | UInt64(bytes[position + index]) }
        return value
    }

    /// The end of a tuple's part of variable size, where `place` counts such parts but the last one, from 0: the
    /// framing offsets stand at the tuple's end, the first one last.
    static func end(ofPart place: Int, in tuple: Span<UInt8>) -> Int? {
        let size = offsetSize(tuple.count)
        guard let end = number(tuple, at: tuple.count - (place + 1) * size, size: size) else { return nil }
        return end <= UInt64(tuple.count) ? Int(end) : nil
    }

    /// The ranges of an array's elements of variable size and with this alignment.
    static func elements(of array: Span<UInt8>, alignment: Int) -> [Range<Int>]? {
        if array.isEmpty { return [] }
        let size = offsetSize(array.count)
        guard let table = number(array, at: array.count - size, size: size).flatMap({ Int(exactly: $0) }),
            table <= array.count, (array.count - table) % size == 0
        else { return nil }
        var ranges: [Range<Int>] = []
        var start = 0
        for place in stride(from: table, to: array.count, by: size) {
            guard let end = number(array, at: place, size: size).flatMap({ Int(exactly: $0) }), start <= end,
                end <= table
            else { return nil }
            ranges.append(start..<end)
            start = aligned(end, to: alignment)
        }
        return ranges
    }

    static func aligned(_ position: Int, to alignment: Int) -> Int {
        (position + alignment - 1) / alignment * alignment
    }

    /// A string without the NUL at its end.
    static func text(_ bytes: Span<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes[bytes.count - 1] == 0 else { return nil }
        return bytes.extracting(0..<(bytes.count - 1)).publicText()
    }
}
