internal import HTTPTransport
public import RedactedLog
public import Secrets

/// What a server knows of us: the client id, what we ask for, and where answers go. No secret is in it.
public struct ClientConfiguration: Sendable, Hashable {
    /// 1 to 2,048 printable ASCII characters (RFC 6749 appendix A.1).
    public let clientID: String
    public let redirect: RedirectURI
    public var scopes: ScopeList
    /// Sent with each authorization request, such as `access_type=offline` for Google.
    public let extraParameters: [AuthorizationParameter]

    public init(
        clientID: String, redirect: RedirectURI, scopes: ScopeList = [], extraParameters: [AuthorizationParameter] = []
    ) throws(OAuthError) {
        guard (1...2048).contains(clientID.utf8.count), clientID.utf8.allSatisfy({ ASCII.isVisible($0) }) else {
            throw OAuthError(.invalidConfiguration(.clientID))
        }
        self.clientID = clientID
        self.redirect = redirect
        self.scopes = scopes
        self.extraParameters = extraParameters
    }
}

/// One extra parameter of an authorization request. It is public, and it can't replace what keeps the flow safe.
public struct AuthorizationParameter: Sendable, Hashable {
    public let name: String
    public let value: String

    /// The names that only we set.
    static let reserved: Set<String> = [
        "client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "dpop_jkt",
        "nonce", "redirect_uri", "request", "request_uri", "response_mode", "response_type", "scope", "state",
    ]

    /// Throws `.invalidConfiguration(.reservedParameter)` for a name that is ours to set, `.parameter` for an empty name,
    /// control characters, or more than 2,048 bytes.
    public init(_ name: String, _ value: String) throws(OAuthError) {
        guard !Self.reserved.contains(name) else { throw OAuthError(.invalidConfiguration(.reservedParameter)) }
        guard (1...128).contains(name.utf8.count), value.utf8.count <= 2048,
            name.utf8.allSatisfy({ ASCII.isUnreserved($0) }),
            value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        else { throw OAuthError(.invalidConfiguration(.parameter)) }
        self.name = name
        self.value = value
    }
}

/// How the client proves itself at the token and revocation endpoints (RFC 6749 section 2.3).
public struct ClientAuthentication: ~Copyable, Sendable {
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// A public client: its client id in the form, nothing more.
        case none
        /// The secret in an `Authorization: Basic` field.
        case secretBasic = "client_secret_basic"
        /// The secret in the form.
        case secretPost = "client_secret_post"
    }

    public let method: Method
    let secret: Secret<ClientSecret>?

    private init(method: Method, secret: consuming Secret<ClientSecret>?) {
        self.method = method
        self.secret = secret
    }

    /// A public client.
    public static var none: ClientAuthentication { ClientAuthentication(method: .none, secret: nil) }

    /// Throws `.invalidConfiguration(.clientSecret)` unless the secret is 1 to 4,096 printable ASCII characters.
    public static func secretBasic(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> ClientAuthentication
    {
        ClientAuthentication(method: .secretBasic, secret: try checked(secret))
    }

    /// Throws `.invalidConfiguration(.clientSecret)` unless the secret is 1 to 4,096 printable ASCII characters.
    public static func secretPost(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> ClientAuthentication {
        ClientAuthentication(method: .secretPost, secret: try checked(secret))
    }

    private static func checked(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> Secret<ClientSecret> {
        let valid = secret.withExposedBytes { ASCII.isVisible($0, limit: 4096) }
        guard valid else { throw OAuthError(.invalidConfiguration(.clientSecret)) }
        return secret
    }
}

/// A server's name for itself: an HTTPS or loopback URL without query and fragment, compared byte for byte
/// (RFC 8414 section 2, RFC 9207 section 2.4).
public struct Issuer: Sendable, Hashable, Loggable {
    /// As written.
    public let text: String
    let url: HTTPURL

    /// Throws `.invalidConfiguration(.issuer)` for anything else.
    public init(_ text: String) throws(OAuthError) {
        do throws(HTTPURLError) {
            url = try HTTPURL(text)
        } catch {
            throw OAuthError(.invalidConfiguration(.issuer))
        }
        guard url.isConfidential, url.query == nil else { throw OAuthError(.invalidConfiguration(.issuer)) }
        self.text = text
    }

    public static func == (left: Issuer, right: Issuer) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Safe: the configured name of a server, without a query.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "the configured name of a server, without a query", unredacted: text))"
    }
}
