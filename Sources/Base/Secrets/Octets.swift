/// A name, compared by its UTF-8.
///
/// Swift's own `==` is true for canonically equivalent text: the Kelvin sign (U+212A) equals `K`, and a composed é
/// equals a decomposed one. Servers, stores and other programs compare octets, so `==` could confuse two of their
/// names.
package struct Octets: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: Octets, right: Octets) -> Bool { left.text.hasSameOctets(as: right.text) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

extension StringProtocol {
    /// Whether both texts have the same UTF-8. The comparison of all that comes from outside and says who or what it
    /// is.
    package func hasSameOctets(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Compares as `hasSameOctets(as:)`, but ignores the case of ASCII letters.
    package func hasSameOctetsButForCase(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0 == $1 || (Self.isASCIILetter($0) && $0 ^ $1 == 0x20) }
    }

    private static func isASCIILetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
