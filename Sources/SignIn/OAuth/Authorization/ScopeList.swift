internal import LatchkeySystem
public import LatchkeyLog

/// The scopes of a request or a grant, in order and each once (RFC 6749 section 3.3).
public struct ScopeList: Sendable, Hashable {
    /// At most 128, in the order given, each once; with a space after each, at most 4,096 bytes.
    public let scopes: [String]

    package static let maximumCount = 128
    /// Of all scopes joined, in bytes.
    package static let maximumByteCount = 4096

    /// Throws `.invalidConfiguration(.scope)` for an empty scope, one with a space, a quotation mark, a backslash or
    /// anything outside ASCII, and for a list past the limits. A scope given twice counts once.
    public init(_ scopes: [String]) throws(OAuthError) {
        var seen: Set<String> = []
        let unique = scopes.filter { seen.insert($0).inserted }
        guard unique.count <= Self.maximumCount,
            unique.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isScopeCharacter) }),
            unique.reduce(unique.count, { $0 + $1.utf8.count }) <= Self.maximumByteCount
        else { throw OAuthError(.invalidConfiguration(.scope)) }
        self.scopes = unique
    }

    /// Splits text at spaces; at commas too where the server (GitHub) separates by them.
    package init(text: String, separatedByComma: Bool = false) throws(OAuthError) {
        let parts = text.split { $0 == " " || (separatedByComma && $0 == ",") }
        try self.init(parts.map(String.init))
    }

    /// The scopes joined by spaces.
    package var text: String { scopes.joined(separator: " ") }

    package var isEmpty: Bool { scopes.isEmpty }

    /// Compares case-sensitively (RFC 6749 section 3.3). A wider scope that includes this one doesn't count.
    public func contains(_ scope: String) -> Bool { scopes.contains(scope) }

    /// Whether an OpenID sign-in is requested.
    package var includesOpenID: Bool { contains("openid") }
}

extension ScopeList: ExpressibleByArrayLiteral {
    /// Scopes written in the source. Stops the process when one is malformed.
    public init(arrayLiteral elements: StaticString...) {
        do throws(OAuthError) {
            try self.init(elements.map(\.description))
        } catch {
            preconditionFailure("malformed scope in the source")
        }
    }
}

extension ScopeList: Loggable {
    /// Safe: names of permissions, printable ASCII of bounded length.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "scopes are names of permissions", unredacted: text))"
    }
}
