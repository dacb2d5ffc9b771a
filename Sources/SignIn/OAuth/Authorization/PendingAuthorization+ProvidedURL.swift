internal import LatchkeySystem
internal import LatchkeyHTTP
public import LatchkeySecrets

extension PendingAuthorization {
    /// The code challenge, which everybody may see (RFC 7636 section 4.2); its method is `S256`.
    public var codeChallenge: String { pkce.challenge }

    /// Takes an authorization URL that the caller made, when it is this attempt's.
    ///
    /// It leads to the server's authorization endpoint, names the client, holds each parameter once, and no fragment;
    /// and it names a pushed request by `request_uri`, or has our `state`, our S256 challenge, our redirect address and
    /// our nonce, where there is one. Other parameters may stand beside them, but no request object (`request`).
    ///
    /// Throws `.invalidConfiguration(.authorizationURL)` for any other.
    ///
    /// - Parameters:
    ///   - address: the URL, consumed.
    ///   - mustNamePushedRequest: for servers and providers that want nothing else.
    public borrowing func authorizationURL(
        provided address: consuming Secret<AuthorizationAddress>, mustNamePushedRequest: Bool = false
    ) throws(OAuthError) -> AuthorizationURL {
        let isOurs = address.withExposedBytes { bytes in
            (try? belongs(bytes, mustNamePushedRequest: mustNamePushedRequest)) ?? false
        }
        guard isOurs else { throw OAuthError(.invalidConfiguration(.authorizationURL)) }
        return AuthorizationURL(whole: address, publicPart: publicPart)
    }

    private borrowing func belongs(
        _ bytes: Span<UInt8>, mustNamePushedRequest: Bool
    ) throws(OAuthError) -> Bool {
        guard let mark = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: "?") }),
            isEndpoint(bytes.extracting(first: mark)), !ASCII.contains(bytes, UInt8(ascii: "#"))
        else { return false }
        // Each name once, or it throws.
        let query = try RedirectQuery(bytes.extracting(mark + 1..<bytes.count))
        func isText(_ name: StaticString, _ text: String, _ query: borrowing RedirectQuery) throws(OAuthError) -> Bool {
            try query.text(name, limit: 8192) == text
        }
        guard try isText("client_id", request.client.clientID, query), try query.text("request", limit: 8192) == nil
        else { return false }
        if try query.text("request_uri", limit: PushedRequestEndpoint.maximumRequestURIByteCount) != nil { return true }
        guard !mustNamePushedRequest, try isText("response_type", "code", query),
            try isText("code_challenge", pkce.challenge, query),
            try isText("code_challenge_method", pkce.method, query),
            try isText("redirect_uri", request.redirect.text, query)
        else { return false }
        guard let theirs = try query.secret("state", as: AuthorizationState.self, limit: 1024), theirs.matches(state)
        else {
            return false
        }
        switch nonce {
        case .some(let nonce):
            guard let theirs = try query.secret("nonce", as: OpenIDNonce.self, limit: 1024) else { return false }
            return theirs.matches(nonce)
        case .none: return true
        }
    }

    /// As the server writes its address, or without the scheme's own port.
    private borrowing func isEndpoint(_ bytes: Span<UInt8>) -> Bool {
        let endpoint = request.server.authorizationEndpoint
        let written = endpoint.text.prefix { $0 != "?" }
        return ASCII.equal(bytes, endpoint.origin + endpoint.path) || ASCII.equal(bytes, String(written))
    }
}
