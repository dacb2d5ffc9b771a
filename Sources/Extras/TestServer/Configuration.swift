public import LatchkeySecrets

/// A client that the server knows.
public final class RegisteredClient: Sendable {
    /// Its `client_id`.
    public let identifier: String
    /// The client's redirect URIs, compared exactly. A URI with `http://127.0.0.1`, `http://[::1]` or
    /// `http://localhost` without a port matches any port (RFC 8252 section 7.3). A path that ends in `/*` matches any
    /// path below it.
    public let redirectURIs: [String]
    /// `nil` for a public client.
    let secret: Secret<ClientSecret>?
    /// The only scopes that it may request; `nil`: any.
    let scopes: [String]?
    /// The only way in which it may prove itself; `nil`: any.
    let method: AuthorizationServerRecord.ClientAuthentication?

    /// A public client, or one that has to prove itself by `secret`. Nothing is checked.
    public init(_ identifier: String, redirectURIs: [String], secret: consuming Secret<ClientSecret>? = nil) {
        self.identifier = identifier
        self.redirectURIs = redirectURIs
        self.secret = secret
        scopes = nil
        method = nil
    }

    init(
        _ identifier: String, redirectURIs: [String], secret: consuming Secret<ClientSecret>?, scopes: [String]?,
        method: AuthorizationServerRecord.ClientAuthentication?
    ) {
        self.identifier = identifier
        self.redirectURIs = redirectURIs
        self.secret = secret
        self.scopes = scopes
        self.method = method
    }

    /// A URI with a fragment is never permitted (RFC 6749 section 3.1.2).
    func permits(redirectURI: String) -> Bool {
        !redirectURI.utf8.contains(UInt8(ascii: "#"))
            && redirectURIs.contains { known in
                [redirectURI, Self.withoutLoopbackPort(redirectURI) ?? redirectURI].contains { requested in
                    // Not as Swift compares texts, for which two spellings of `é` are the same.
                    requested.utf8.elementsEqual(known.utf8)
                        || known.hasSuffix("/*") && requested.utf8.starts(with: known.utf8.dropLast())
                }
            }
    }

    /// The URI without its port, or `nil` unless it is a loopback URI with one.
    private static func withoutLoopbackPort(_ uri: String) -> String? {
        for prefix in ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"] where uri.hasPrefix(prefix) {
            let rest = uri.dropFirst(prefix.count)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            // Digits alone: neither `+80` nor `00080`.
            guard let port = UInt16(rest[..<end]), port > 0, rest[..<end] == String(port) else { return nil }
            return String(prefix.dropLast()) + String(rest[end...])
        }
        return nil
    }
}

/// How an in-process authorization server behaves.
public struct AuthorizationServerConfiguration: Sendable {
    /// The decision on the consent page.
    public enum Consent: Sendable, Hashable {
        /// A person: the page has two buttons.
        case page
        /// No person: the response comes at once, for user agents without a person.
        case automatic
    }

    /// Whether authorization requests are pushed (RFC 9126).
    public enum PushedRequests: Sendable, Hashable {
        /// The server lacks the endpoint.
        case none
        /// There is an endpoint, which clients may use.
        case offered
        /// A request that wasn't pushed is refused.
        case required
    }

    /// The clients that the server knows from the start.
    public var clients: [RegisteredClient]
    /// The decision on the consent page; by default `automatic`.
    public var consent: Consent
    /// The one account that signs in.
    public var login: String
    /// The path of the issuer, such as `/tenant`; may be empty.
    public var issuerPath: String
    /// Whether GitHub's token endpoint gives refresh tokens and expiry, as GitHub Apps do.
    public var gitHubTokensExpire: Bool
    /// Whether DPoP proofs must carry a nonce that the server gave (RFC 9449 sections 8 and 9).
    public var dpopNonces: Bool
    /// Whether every token must be bound to a key (RFC 9449).
    public var requiresDPoP: Bool
    /// Whether authorization requests can, or must, be pushed (RFC 9126).
    public var pushedRequests: PushedRequests
    /// Whether the device grant is available (RFC 8628), and in the metadata.
    public var offersDeviceGrant: Bool
    /// How long a code for another device is good; ten minutes unless told otherwise.
    public var deviceCodeLifetime: Duration
    /// How many seconds a device has to wait between two questions (RFC 8628 section 3.5); 1 unless told otherwise.
    public var deviceIntervalSeconds: Int
    /// Whether anyone may register a client (RFC 7591).
    public var allowsRegistration: Bool
    /// The account of the tokens, for a server with AT Protocol's profile. It refuses requests that the profile
    /// forbids.
    public var atProtocolAccount: String?
    /// How long an access token is good; an hour unless told otherwise.
    public var accessTokenLifetime: Duration
    /// How long an authorization code is good; a minute unless told otherwise.
    public var codeLifetime: Duration
    /// Which loopback address the server listens on.
    public var family: AddressFamily
    /// The port; 0 means any free port.
    public var port: UInt16
    /// With which certificate it speaks TLS; `nil`: plain HTTP.
    public var tls: TLS?
    /// How long each request of the token endpoint waits before anything is done for it; `nil`: not at all.
    package var tokenDelay: (@Sendable () -> Duration)?
    /// How many connections it has at once.
    package var maximumConnectionCount = 64

    /// The defaults know one public client, `latchkey`, with any path of a loopback address.
    public init(
        clients: [RegisteredClient] = [
            RegisteredClient("latchkey", redirectURIs: ["http://127.0.0.1/*", "http://[::1]/*"])
        ],
        consent: Consent = .automatic, login: String = "octocat", issuerPath: String = "",
        gitHubTokensExpire: Bool = false, dpopNonces: Bool = false, requiresDPoP: Bool = false,
        pushedRequests: PushedRequests = .none, offersDeviceGrant: Bool = false,
        deviceCodeLifetime: Duration = .seconds(600), deviceIntervalSeconds: Int = 1, allowsRegistration: Bool = false,
        atProtocolAccount: String? = nil, accessTokenLifetime: Duration = .seconds(3600),
        codeLifetime: Duration = .seconds(60), family: AddressFamily = .ipv4, port: UInt16 = 0,
        tls: TLS? = nil
    ) {
        self.clients = clients
        self.consent = consent
        self.login = login
        self.issuerPath = issuerPath
        self.gitHubTokensExpire = gitHubTokensExpire
        self.dpopNonces = dpopNonces
        self.requiresDPoP = requiresDPoP
        self.pushedRequests = pushedRequests
        self.offersDeviceGrant = offersDeviceGrant
        self.deviceCodeLifetime = deviceCodeLifetime
        self.deviceIntervalSeconds = deviceIntervalSeconds
        self.allowsRegistration = allowsRegistration
        self.atProtocolAccount = atProtocolAccount
        self.accessTokenLifetime = accessTokenLifetime
        self.codeLifetime = codeLifetime
        self.family = family
        self.port = port
        self.tls = tls
    }
}

// MARK: - Loopback

extension RegisteredClient {
    /// The client that an id of the form `http://localhost?redirect_uri=…&scope=…` describes, for AT Protocol; it may
    /// have several addresses. Returns `nil` for any other id, and for a redirect that is not on a loopback IP address.
    convenience init?(loopback identifier: String) {
        let prefix = "http://localhost"
        guard identifier.hasPrefix(prefix) else { return nil }
        var rest = identifier.dropFirst(prefix.count)
        if rest.hasPrefix("/") { rest = rest.dropFirst() }
        guard rest.isEmpty || rest.hasPrefix("?") else { return nil }
        var redirects: [String] = []
        var scopes = ["atproto"]
        for parameter in rest.dropFirst().split(separator: "&") {
            let query = Array(parameter.utf8)
            guard let field = FormFields(Secret<MessageBody>(copying: query.span)) else { return nil }
            if let redirect = field.text("redirect_uri") {
                redirects.append(Self.withoutLoopbackPort(redirect) ?? redirect)
            }
            if let text = field.text("scope") { scopes = text.split(separator: " ").map(String.init) }
        }
        if redirects.isEmpty { redirects = ["http://127.0.0.1/", "http://[::1]/"] }
        let isLoopback = redirects.allSatisfy { $0.hasPrefix("http://127.0.0.1/") || $0.hasPrefix("http://[::1]/") }
        guard isLoopback else { return nil }
        self.init(identifier, redirectURIs: redirects, secret: nil, scopes: scopes, method: nil)
    }
}
