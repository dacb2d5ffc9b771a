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

    /// How the two parts of Basic credentials are written. RFC 6749 section 2.3.1 wants them form-encoded; some servers
    /// take them raw. It matters only where they hold other characters than letters, digits and `*-._`.
    public enum BasicForm: String, Sendable, Hashable, CaseIterable {
        case formEncoded = "form-encoded"
        case raw
    }

    public let method: Method
    /// What the server is known to take; `nil` to find out.
    let basicForm: BasicForm?
    let secret: Secret<ClientSecret>?

    private init(method: Method, basicForm: BasicForm? = nil, secret: consuming Secret<ClientSecret>?) {
        self.method = method
        self.basicForm = basicForm
        self.secret = secret
    }

    /// A public client.
    public static var none: ClientAuthentication { ClientAuthentication(method: .none, secret: nil) }

    /// Throws `.invalidConfiguration(.clientSecret)` unless the secret is 1 to 4,096 bytes of UTF-8 without control
    /// characters. (RFC 6749 appendix A.2 wants ASCII, but servers let people choose.)
    ///
    /// - Parameter form: `TokenResponse.acceptedBasicForm` of the sign-in. Without it the server is tried with the
    ///   form-encoded and then with the raw one, which is fine for a code; but a server that spends a refresh token before
    ///   it looks at the client (glewlwyd does) has none left for the second try.
    public static func secretBasic(
        _ secret: consuming Secret<ClientSecret>, form: BasicForm? = nil
    ) throws(OAuthError) -> ClientAuthentication {
        ClientAuthentication(method: .secretBasic, basicForm: form, secret: try checked(secret))
    }

    /// Throws `.invalidConfiguration(.clientSecret)` unless the secret is 1 to 4,096 bytes of UTF-8 without control
    /// characters. (RFC 6749 appendix A.2 wants ASCII, but servers let people choose.)
    public static func secretPost(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> ClientAuthentication {
        ClientAuthentication(method: .secretPost, secret: try checked(secret))
    }

    private static func checked(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> Secret<ClientSecret> {
        let valid = secret.withExposedBytes { bytes in
            (1...4096).contains(bytes.count) && JSONString.isUTF8(bytes) && !ASCII.containsControl(bytes)
        }
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
