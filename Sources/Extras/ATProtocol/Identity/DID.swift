public import LatchkeyLog

/// An account's identifier on AT Protocol, which stays when its handle and its server change: `did:plc` or `did:web`,
/// and nothing else.
public struct DID: Sendable, Hashable, Loggable {
    /// Where its document is.
    public enum Method: Sendable, Hashable {
        /// In the directory of did:plc.
        case plc
        /// A DID on a host: the host's name, with a port only for `localhost` (development).
        case web(host: String, port: UInt16?)
    }

    /// The unchanged text: `did:plc:…` or `did:web:…`.
    public let text: String
    /// Where its document is.
    public let method: Method

    /// The longest DID, in bytes.
    public static let maximumByteCount = 512

    /// Throws `.invalidDID` unless the text is `did:plc:` with 24 characters of lower-case base 32, or `did:web:` with
    /// a host's name in lower case, without a path. Only `localhost` may have a port, written as `localhost%3A8080`.
    public init(_ text: String) throws(ATProtocolError) {
        guard text.utf8.count <= Self.maximumByteCount, let method = Self.method(of: text) else {
            throw ATProtocolError(.invalidDID)
        }
        self.text = text
        self.method = method
    }

    private static func method(of text: String) -> Method? {
        if text.hasPrefix("did:plc:") {
            let rest = text.utf8.dropFirst(8)
            let isBase32 = rest.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
            return rest.count == 24 && isBase32 ? .plc : nil
        }
        guard text.hasPrefix("did:web:") else { return nil }
        let rest = text.dropFirst(8)
        if rest == "localhost" { return .web(host: "localhost", port: nil) }
        if rest.hasPrefix("localhost%3A") {
            let digits = rest.dropFirst(12)
            guard let port = UInt16(digits), port > 0, String(port) == digits else { return nil }
            return .web(host: "localhost", port: port)
        }
        // Otherwise a host's name has the form of a handle.
        guard let host = try? ATProtocolHandle(String(rest)), host.text == rest else { return nil }
        return .web(host: host.text, port: nil)
    }

    /// Safe: a public identifier.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a DID is a public identifier", unredacted: text))"
    }
}

/// The account to sign in: a handle, or a DID.
package enum AccountIdentifier: Sendable, Hashable {
    case handle(ATProtocolHandle)
    case did(DID)

    /// Reads either. Throws `.invalidDID` for a text that starts with `did:`, `.invalidHandle` for any other.
    package init(_ text: String) throws(ATProtocolError) {
        self = text.hasPrefix("did:") ? .did(try DID(text)) : .handle(try ATProtocolHandle(text))
    }
}

/// An account's name on AT Protocol: a domain name, such as `alice.example.org`.
///
/// The handle is converted to lower case, because the comparison of handles ignores case.
public struct ATProtocolHandle: Sendable, Hashable, Loggable {
    /// The handle in lower case, without an `@`.
    public let text: String

    /// The longest handle, in bytes.
    public static let maximumByteCount = 253
    /// Top-level names that aren't used on the internet.
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

    private static func isLabel(_ label: Substring) -> Bool {
        let bytes = label.utf8
        guard (1...63).contains(bytes.count), bytes.first != 0x2D, bytes.last != 0x2D else { return false }
        return bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    /// Safe: a public name, which is a domain name.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a handle is a public domain name", unredacted: text))"
    }
}
