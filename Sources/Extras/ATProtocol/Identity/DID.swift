public import LatchkeyLog

/// An account's identifier on AT Protocol, which stays when its handle and its server change: `did:plc` or `did:web`,
/// and nothing else.
public struct DID: Sendable, Hashable, Loggable {
    /// Where its document is.
    public enum Method: Sendable, Hashable {
        /// In the directory of did:plc.
        case plc
        /// On a host: its name, with a port for `localhost` alone (development).
        case web(host: String, port: UInt16?)
    }

    /// As it was given: `did:plc:…` or `did:web:…`.
    public let text: String
    /// Where its document is.
    public let method: Method

    /// The longest DID, in bytes.
    public static let maximumByteCount = 512

    /// Throws `.invalidDID` unless the text is `did:plc:` with 24 characters of lower-case base 32, or `did:web:` with
    /// a host's name in lower case: no path, and no port but for `localhost`, written as `localhost%3A8080`.
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
        // Otherwise a host is named as a handle is.
        guard let host = try? ATProtocolHandle(String(rest)), host.text == rest else { return nil }
        return .web(host: host.text, port: nil)
    }

    /// Safe: a public identifier.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a DID is a public identifier", unredacted: text))"
    }
}

/// Who is to sign in: a handle, or a DID.
package enum AccountIdentifier: Sendable, Hashable, Loggable {
    case handle(ATProtocolHandle)
    case did(DID)

    /// Reads either. Throws `.invalidDID` for a text that starts with `did:`, `.invalidHandle` for any other.
    package init(_ text: String) throws(ATProtocolError) {
        self = text.hasPrefix("did:") ? .did(try DID(text)) : .handle(try ATProtocolHandle(text))
    }

    /// The name that its session is kept under.
    package var accountName: String {
        switch self {
        case .handle(let handle): handle.text
        case .did(let did): did.text
        }
    }

    // Safe: both are public.
    package var logMessage: LogMessage {
        switch self {
        case .handle(let handle): "\(handle)"
        case .did(let did): "\(did)"
        }
    }
}
