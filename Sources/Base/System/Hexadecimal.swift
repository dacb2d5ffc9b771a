/// Lower-case hexadecimal digits, for names of records and files.
package enum Hexadecimal {
    package static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            for half in [byte >> 4, byte & 15] { digits.append(half < 10 ? 0x30 + half : 0x57 + half) }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
