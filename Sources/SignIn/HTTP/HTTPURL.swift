public import LatchkeyLog

/// An absolute `http` or `https` URL without user information and fragment, checked once (RFC 3986, RFC 9110).
///
/// The text is public: secrets don't belong in URLs. A URL with `state` is an ``AuthorizationURL``. Logs show
/// scheme, host, port and path, never the query.
public struct HTTPURL: Sendable, Hashable, Loggable, CustomReflectable {
    package enum Scheme: String, Sendable, Hashable {
        case http, https

        var port: UInt16 { self == .https ? 443 : 80 }
    }

    package let scheme: Scheme
    /// In lower case; an IPv6 address in brackets.
    package let host: String
    /// As written, or `nil`.
    package let port: UInt16?
    /// Starts with a slash; percent-encoding as written.
    package let path: String
    /// Without the question mark; percent-encoding as written; `nil` when there is none.
    package let query: String?
    /// `https://host:port`, the port left out when it is the scheme's own.
    public let origin: String
    /// Whether the host is this machine (`HostName.isLoopback`).
    package let isLoopback: Bool

    package static let maximumByteCount = 8192

    /// Parses a URL; nothing is repaired.
    ///
    /// Throws `InvalidValue` for another scheme, user information, a fragment, a character that must be
    /// percent-encoded, a host or a port that isn't valid, and more than 8,192 bytes.
    public init(_ text: String) throws(InvalidValue) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumByteCount else {
            throw Self.invalid("the URL is longer than \(Self.maximumByteCount) bytes")
        }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#"<>"\^`{|}"#.utf8.contains($0) }) else {
            throw Self.invalid("the URL contains a character that must be percent-encoded")
        }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw Self.invalid("the URL has a fragment") }
        let rest: Substring
        if text.lowercased().hasPrefix("https://") {
            (scheme, rest) = (.https, text.dropFirst(8))
        } else if text.lowercased().hasPrefix("http://") {
            (scheme, rest) = (.http, text.dropFirst(7))
        } else {
            throw Self.invalid("the URL starts with neither https:// nor http://")
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw Self.invalid("the URL contains a user name or password") }
        (host, port) = try Self.parse(authority: authority)
        let target = rest[end...]
        if let mark = target.firstIndex(of: "?") {
            path = mark == target.startIndex ? "/" : String(target[..<mark])
            query = String(target[target.index(after: mark)...])
        } else {
            path = target.isEmpty ? "/" : String(target)
            query = nil
        }
        let isOwnPort = port == nil || port == scheme.port
        origin = "\(scheme.rawValue)://\(host)\(isOwnPort ? "" : ":\(port ?? scheme.port)")"
        isLoopback = HostName.isLoopback(host)
    }

    private static func invalid(_ cause: LogMessage) -> InvalidValue {
        InvalidValue(.url, cause, hint: "use a URL such as https://host.example/path")
    }

    private static func parse(authority: Substring) throws(InvalidValue) -> (String, UInt16?) {
        var host = authority
        var port: UInt16?
        let afterBracket = authority.lastIndex(of: "]").map { authority[$0...] } ?? authority
        if let colon = afterBracket.lastIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            guard let number = UInt16(digits), number > 0, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw Self.invalid("the URL's port isn't a number from 1 to 65535")
            }
            (host, port) = (authority[..<colon], number)
        }
        let isLiteral = host.hasPrefix("[") && host.hasSuffix("]") && host.count > 2
        let inner = isLiteral ? host.dropFirst().dropLast() : host
        let allowed = inner.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"): true
            case UInt8(ascii: "_"): !isLiteral
            case UInt8(ascii: ":"): isLiteral
            default: false
            }
        }
        guard allowed, !inner.isEmpty, inner.utf8.count <= 255 else {
            throw Self.invalid("the URL's host is missing or invalid")
        }
        return (host.lowercased(), port)
    }

    /// Whether what is sent can't be read on the network: HTTPS, or a loopback address.
    package var isConfidential: Bool { scheme == .https || isLoopback }

    /// The origin, for messages.
    var shownOrigin: LoggableText { LoggableText(reviewed: "scheme, host and port", unredacted: origin) }

    /// The whole URL.
    public var text: String {
        "\(scheme.rawValue)://\(host)\(port.map { ":\($0)" } ?? "")\(path)\(query.map { "?\($0)" } ?? "")"
    }

    /// Leaves out the query, so that `print` and `dump` don't show it.
    public var customMirror: Mirror { Mirror(self, children: ["origin": origin, "path": path]) }

    /// Safe: the query is left out.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "origin and path of a configured URL; the query is left out", unredacted: origin + path))"
    }
}
