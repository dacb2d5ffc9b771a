/// The places in a table where an item may stand: eight in a row, that follow from its lookup value.
///
/// A lookup is then one walk down one tree. Two lookup values that share the first 60 bits can stand side by side;
/// that eight of them do isn't chance.
struct ItemPlaces: Sendable, Hashable {
    let first: Int64
    var last: Int64 { first + Int64(Self.count - 1) }

    static let count = 8

    /// From 1 to 2^63 − 8: half of the lookup value's first eight bytes, read as a little-endian number.
    init(of lookup: [UInt8]) {
        var number: UInt64 = 0
        for (index, byte) in lookup.prefix(8).enumerated() { number |= UInt64(byte) << UInt64(index * 8) }
        first = min(max(Int64(number >> 1), 1), .max - Int64(Self.count - 1))
    }

    func contains(_ place: Int64) -> Bool { place >= first && place <= last }

    /// The first of the places that isn't among these, or `nil`.
    func free(besides taken: Set<Int64>) -> Int64? { (first...last).first { !taken.contains($0) } }
}
