internal import LatchkeyHTTP
internal import LatchkeySecrets

extension AuthorizationServerMetadata {
    /// What the server is distinguished by: its issuer, or the token endpoint of one without.
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
