internal import LatchkeyHTTP
public import LatchkeyLog

/// The contents of an authorization request (RFC 6749 section 4.1.1). It contains no secret yet.
package struct AuthorizationRequest: Sendable {
    package let server: AuthorizationServerMetadata
    package let client: ClientConfiguration
    /// Where the response goes; the client's redirect with the listener's port in it.
    package let redirect: RedirectURI
    /// Of the key that the code and its tokens will be bound to (RFC 9449 section 10), if any.
    package let keyThumbprint: String?

    /// - Parameters:
    ///   - redirect: the client's own unless the listener chose the port of a loopback address.
    ///   - dpop: the signer of the key for the code and its tokens.
    ///
    /// Throws `.invalidConfiguration`: `.redirectPort` for a loopback address without a port, and `.redirect` for an
    /// address that differs from the client's in more than the port. Throws `.invalidMetadata(.withoutES256)` if the
    /// server doesn't accept our proofs.
    package init(
        server: AuthorizationServerMetadata, client: ClientConfiguration, redirect: RedirectURI? = nil,
        dpop: DPoPProofSigner? = nil
    ) throws(OAuthError) {
        try self.init(server: server, client: client, redirect: redirect, keyThumbprint: dpop?.thumbprint)
    }

    /// The same by the thumbprint of a key, for an attempt that goes on in another process.
    package init(
        server: AuthorizationServerMetadata, client: ClientConfiguration, redirect: RedirectURI? = nil,
        keyThumbprint: String?
    ) throws(OAuthError) {
        let redirect = redirect ?? client.redirect
        guard !redirect.needsPort else { throw OAuthError(.invalidConfiguration(.redirectPort)) }
        let registered = client.redirect
        let isRegistered =
            redirect == registered || (registered.needsPort && redirect == registered.withPort(redirect.port ?? 0))
        guard isRegistered else { throw OAuthError(.invalidConfiguration(.redirect)) }
        guard keyThumbprint == nil || server.dpopAlgorithms?.contains("ES256") ?? true else {
            throw OAuthError(.invalidMetadata(.withoutES256))
        }
        self.keyThumbprint = keyThumbprint
        self.server = server
        self.client = client
        self.redirect = redirect
    }

    /// Microsoft's servers issue a refresh token for `offline_access` without consent. With `prompt=consent` they
    /// refuse people whose administrator has consented for the whole organization (AADSTS90094).
    private static let hostsWithoutConsentPrompt: Set<String> = [
        "login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
    ]

    /// Whether the person must consent again. Otherwise strict servers ignore the scope `offline_access` and don't
    /// issue a refresh token (OpenID Connect Core section 11). A `prompt` among the client's own parameters replaces
    /// ours.
    var promptsForConsent: Bool {
        client.scopes.contains("offline_access") && !client.extraParameters.contains { $0.name == "prompt" }
            && !Self.hostsWithoutConsentPrompt.contains(server.authorizationEndpoint.host)
    }

    /// Begins one attempt: a new code verifier, a new state, and for the scope `openid` a new nonce.
    package func begin(random: RandomSource) throws(OAuthError) -> PendingAuthorization {
        try PendingAuthorization(self, random: random)
    }
}

/// One extra parameter of an authorization request. The parameter is public, and it can't replace one that the flow's
/// security depends on.
public struct AuthorizationParameter: Sendable, Hashable {
    package let name: String
    package let value: String

    /// The names that only we set.
    static let reserved: Set<String> = [
        "assertion", "client_assertion", "client_assertion_type", "client_id", "client_secret", "code",
        "code_challenge", "code_challenge_method", "code_verifier", "dpop_jkt", "grant_type", "nonce", "redirect_uri",
        "request", "request_uri", "resource", "response_mode", "response_type", "scope", "state", "subject_token",
        "subject_token_type",
    ]

    /// Throws `.invalidConfiguration(.reservedParameter)` for a name that is ours to set, `.parameter` for an empty
    /// name or value (RFC 6749 section 3.1), control characters, or more than 2,048 bytes.
    public init(_ name: String, _ value: String) throws(OAuthError) {
        guard !Self.reserved.contains(name) else { throw OAuthError(.invalidConfiguration(.reservedParameter)) }
        guard (1...128).contains(name.utf8.count), (1...2048).contains(value.utf8.count),
            name.utf8.allSatisfy({ ASCII.isUnreserved($0) }),
            value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        else { throw OAuthError(.invalidConfiguration(.parameter)) }
        self.name = name
        self.value = value
    }
}

/// The purpose of the guarded memory of an ``AuthorizationURL``.
public enum AuthorizationAddress: SecretPurpose { public static var name: StaticString { "authorization URL" } }

/// The complete address to send a browser to, including `state`: noncopyable and in guarded memory.
///
/// The address only leaves through a sink: a `Location` field, the user's terminal, or a browser over D-Bus.
/// `publicPart` may be shown and logged.
public struct AuthorizationURL: ~Copyable, Sendable {
    private let whole: Secret<AuthorizationAddress>
    /// Origin and path, without the query.
    public let publicPart: LoggableText

    init(whole: consuming Secret<AuthorizationAddress>, publicPart: LoggableText) {
        self.whole = whole
        self.publicPart = publicPart
    }

    /// Passes the whole URL, ASCII, to a named sink. Throws what the sink throws, and nothing else.
    public borrowing func pour<Sink: SecretSink & ~Copyable>(into sink: inout Sink) throws(Sink.Failure) {
        try whole.pour(into: &sink)
    }

    /// Ends the URL and returns the whole address, still in guarded memory.
    package consuming func takeAddress() -> Secret<AuthorizationAddress> { whole }

    /// Returns a second copy in guarded memory, for an agent that hands it over later.
    package borrowing func duplicate() -> AuthorizationURL {
        AuthorizationURL(whole: whole.duplicate(), publicPart: publicPart)
    }
}

/// The scopes of a request or a grant, in order and each once (RFC 6749 section 3.3).
public struct ScopeList: Sendable, Hashable {
    /// At most 128 scopes, in the order passed, without duplicates; at most 4,096 bytes with a space after each.
    public let scopes: [String]

    package static let maximumCount = 128
    /// The limit of all scopes joined, in bytes.
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
