public import LatchkeyLog

/// An account's name on AT Protocol: a domain name, such as `alice.example.org`.
///
/// It is kept in lower case, since handles are compared without regard to case.
public struct ATProtocolHandle: Sendable, Hashable, Loggable {
    /// In lower case, without an `@`.
    public let text: String

    /// The longest handle, in bytes.
    public static let maximumByteCount = 253
    /// Names at the end of a domain name that belong to nobody on the internet.
    private static let reserved: Set<Substring> = [
        "alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion",
    ]

    /// Throws `.invalidHandle` unless the text is at least two labels of letters, digits and inner hyphens, at most 63
    /// bytes each and 253 in all, the last one beginning with a letter and none of those that are reserved. Nothing is
    /// repaired: a leading `@` is an error.
    public init(_ text: String) throws(ATProtocolError) {
        let lowered = text.utf8.allSatisfy({ $0 < 0x80 }) ? text.lowercased() : ""
        let labels = lowered.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...Self.maximumByteCount).contains(lowered.utf8.count), labels.count >= 2,
            labels.allSatisfy(Self.isLabel), let last = labels.last, let first = last.utf8.first,
            (0x61...0x7A).contains(first), !Self.reserved.contains(last)
        else { throw ATProtocolError(.invalidHandle) }
        self.text = lowered
    }

    static func isLabel(_ label: Substring) -> Bool {
        let bytes = label.utf8
        guard (1...63).contains(bytes.count), bytes.first != 0x2D, bytes.last != 0x2D else { return false }
        return bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    /// Safe: a public name, which is a domain name.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a handle is a public domain name", unredacted: text))"
    }
}
