internal import LatchkeyHTTP
public import LatchkeyLog

/// The address to which the browser brings the response (RFC 6749 section 3.1.2, RFC 8252 section 7).
///
/// Servers compare the address byte by byte, so it stays unchanged. The address must not contain a query or a fragment.
public struct RedirectURI: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// `http://127.0.0.1:PORT/…`, `http://[::1]:PORT/…` or `http://localhost:PORT/…`: our listener.
        case loopback
        /// `com.example.app:/callback`: a desktop entry hands it over.
        case privateUse
        /// `https://…`: a page of the adopter's, or an address the person copies from the browser.
        case https
    }

    /// The raw value is the URI's host.
    public enum LoopbackAddress: String, Sendable, Hashable, CaseIterable {
        /// 127.0.0.1
        case ipv4 = "127.0.0.1"
        /// ::1, in brackets as in a URI.
        case ipv6 = "[::1]"
        /// Both, for clients that are registered with the name. RFC 8252 section 8.3 advises against it: a browser
        /// chooses one of the two addresses, so both ports must be this program's.
        case localhost
    }

    package let kind: Kind
    /// The address that is sent. A loopback address without a port gets the port of its listener.
    public let text: String
    /// In lower case.
    package let scheme: String
    /// The host of a loopback address, or `nil`.
    package let loopbackAddress: LoopbackAddress?
    /// The port of a loopback address; `nil` there means that it is chosen at run time.
    package let port: UInt16?
    /// The part after the authority. It starts with a slash, except in `relay://oauth`, where it is empty.
    package let path: String

    package static let maximumByteCount = 2048

    /// A loopback address. Servers that follow RFC 8252 section 7.3 accept any port.
    ///
    /// ``loopback(_:port:authority:)`` makes one that no two servers share.
    ///
    /// Throws `.invalidConfiguration(.redirect)` for a path of another form.
    ///
    /// - Parameters:
    ///   - address: which loopback address.
    ///   - port: `nil` when the listener chooses it.
    ///   - path: starts with a slash; letters, digits and `-._~/` alone.
    public static func loopback(
        _ address: LoopbackAddress = .ipv4, port: UInt16? = nil, path: String
    ) throws(OAuthError) -> RedirectURI {
        try RedirectURI("http://\(address.rawValue)\(port.map { ":\($0)" } ?? "")\(path)")
    }

    /// Reads an address as registered with the server.
    ///
    /// Throws `.invalidConfiguration`: `.redirectScheme` for a private-use scheme without a dot unless
    /// `allowingAnyPrivateScheme` (such as `relay://oauth/callback`: another program could claim a short name);
    /// `.redirect` for everything else that is wrong, such as more than 2,048 bytes.
    public init(_ text: String, allowingAnyPrivateScheme: Bool = false) throws(OAuthError) {
        let bytes = Array(text.utf8)
        guard (1...Self.maximumByteCount).contains(bytes.count),
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#""<>\^`{|}?#"#.utf8.contains($0) }),
            let colon = text.firstIndex(of: ":")
        else { throw OAuthError(.invalidConfiguration(.redirect)) }
        scheme = text[..<colon].lowercased()
        self.text = text
        if scheme == "http" || scheme == "https" {
            (kind, loopbackAddress, port, path) = try Self.web(text)
        } else {
            (kind, loopbackAddress, port) = (.privateUse, nil, nil)
            path = try Self.privateUse(
                scheme: scheme, rest: text[text.index(after: colon)...], anyScheme: allowingAnyPrivateScheme)
        }
    }

    private static func web(_ text: String) throws(OAuthError) -> (Kind, LoopbackAddress?, UInt16?, String) {
        let url = try mapError({ (_: InvalidValue) in OAuthError(.invalidConfiguration(.redirect)) }, of: HTTPURL(text))
        if url.scheme == .https { return (.https, nil, url.port, url.path) }
        guard let address = LoopbackAddress(rawValue: url.host),
            text.hasPrefix("http://\(address.rawValue)"),
            url.path.utf8.allSatisfy({ ASCII.isUnreserved($0) || $0 == UInt8(ascii: "/") })
        else { throw OAuthError(.invalidConfiguration(.redirect)) }
        return (.loopback, address, url.port, url.path)
    }

    /// Schemes that browsers and desktops give a meaning of their own.
    private static let forbiddenSchemes: Set<String> = [
        "about", "blob", "chrome", "data", "file", "filesystem", "ftp", "intent", "javascript", "mailto", "tel",
        "vbscript", "view-source", "ws", "wss",
    ]

    private static func privateUse(scheme: String, rest: Substring, anyScheme: Bool) throws(OAuthError) -> String {
        guard let first = scheme.utf8.first, ASCII.isLetter(first),
            scheme.utf8.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }),
            !forbiddenSchemes.contains(scheme)
        else { throw OAuthError(.invalidConfiguration(.redirect)) }
        guard anyScheme || scheme.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }),
            anyScheme || scheme.contains(".")
        else { throw OAuthError(.invalidConfiguration(.redirectScheme)) }
        if rest.hasPrefix("//") {
            let authority = rest.dropFirst(2).prefix { $0 != "/" }
            guard !authority.isEmpty, !authority.contains("@") else {
                throw OAuthError(.invalidConfiguration(.redirect))
            }
            return String(rest.dropFirst(2 + authority.count))
        }
        guard rest.hasPrefix("/") else { throw OAuthError(.invalidConfiguration(.redirect)) }
        return String(rest)
    }

    /// Whether a listener must still choose the port.
    package var needsPort: Bool { kind == .loopback && port == nil }

    /// Returns the same loopback address with the listener's port. Any other address is returned unchanged.
    package func withPort(_ port: UInt16) -> RedirectURI {
        guard kind == .loopback, let loopbackAddress else { return self }
        return RedirectURI(loopbackAddress, port: port, path: path, isBare: !text.hasSuffix(path))
    }

    /// Whether responses to both come to the same listener, page or program; the port of a loopback address doesn't
    /// count.
    package func isSamePlace(as other: RedirectURI) -> Bool {
        guard kind == .loopback, other.kind == .loopback else { return text.hasSameOctets(as: other.text) }
        return path.hasSameOctets(as: other.path)
    }

    /// - Parameter isBare: whether the text ends with the port: servers compare the slash too.
    private init(_ address: LoopbackAddress, port: UInt16, path: String, isBare: Bool) {
        (kind, scheme, loopbackAddress, self.port, self.path) = (.loopback, "http", address, port, path)
        text = "http://\(address.rawValue):\(port)\(isBare ? "" : path)"
    }
}

extension RedirectURI: Loggable {
    /// Safe: a configured address without a query; the response's parameters are never in it.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a configured address that has no query", unredacted: text))"
    }
}

// MARK: - Authority

extension AuthorizationServerMetadata {
    /// The identity of the server: its issuer, or the token endpoint of a server without an issuer.
    package var authority: String { issuer?.text ?? tokenEndpoint.text }
}

extension RedirectURI {
    /// A loopback redirect URI of one authority's own, which no other shares (RFC 9700 section 4.4.2.2): a code that
    /// another server gave comes to another path, and nothing waits there. The same authority always has the same.
    ///
    /// Throws as ``init(_:allowingAnyPrivateScheme:)``.
    ///
    /// - Parameters:
    ///   - address: which loopback address.
    ///   - port: `nil` when the listener chooses it.
    ///   - authority: the server's issuer, or the token endpoint of one without, compared byte for byte.
    public static func loopback(
        _ address: LoopbackAddress = .ipv4, port: UInt16? = nil, authority: String
    ) throws(OAuthError) -> RedirectURI {
        try loopback(address, port: port, path: path(ofAuthority: authority))
    }

    /// `/TAG/callback`, where TAG is base64url of the first 12 octets of the authority's SHA-256.
    ///
    /// The tag comes first: GitHub takes any path below the registered one, so that no other authority's may lie below
    /// it.
    static func path(ofAuthority authority: String) -> String {
        let digest = SHA256.digest(Array(authority.utf8).span)
        return "/\(Base64URL.encode(digest.span.extracting(first: 12)))/callback"
    }
}
