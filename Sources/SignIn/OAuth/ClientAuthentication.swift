package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeySecrets

/// How the client proves itself at the token and revocation endpoints (RFC 6749 section 2.3).
public struct ClientAuthentication: ~Copyable, Sendable {
    /// The raw values are those of `token_endpoint_auth_method` (RFC 7591 section 2).
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// A public client: its client id in the form, nothing more.
        case none
        /// The secret in an `Authorization: Basic` field.
        case secretBasic = "client_secret_basic"
        /// The secret in the form.
        case secretPost = "client_secret_post"
        /// An assertion in the form, signed with the client's private key on P-256 (RFC 7523 section 2.2).
        case privateKeyJWT = "private_key_jwt"
    }

    /// The way for a client with a secret that a server offers: Basic before the form, and Basic where it doesn't say
    /// (RFC 8414 section 2).
    ///
    /// Throws `.invalidMetadata(.withoutClientAuthentication)` when it offers others alone.
    package static func methodWithSecret(offered: Set<Method>?) throws(OAuthError) -> Method {
        guard let offered else { return .secretBasic }
        if offered.contains(.secretBasic) { return .secretBasic }
        if offered.contains(.secretPost) { return .secretPost }
        throw OAuthError(.invalidMetadata(.withoutClientAuthentication))
    }

    /// The method of a client that registers itself: `none` if the server offers it, which avoids a secret to store;
    /// otherwise `methodWithSecret`.
    package static func methodToRegister(offered: Set<Method>?) throws(OAuthError) -> Method {
        if offered?.contains(.none) == true { return .none }
        return try methodWithSecret(offered: offered)
    }

    /// How a secret is sent. RFC 6749 section 2.3.1 wants the two parts of Basic credentials form-encoded; some servers
    /// take them raw, which matters only where they contain other characters than letters, digits and `*-._`.
    package enum BasicForm: String, Sendable, Hashable, CaseIterable {
        case formEncoded = "form-encoded"
        case raw
        /// Not in Basic credentials, but in the form.
        case body
    }

    package let method: Method
    /// The form that the server is known to accept; `nil` to find out.
    let basicForm: BasicForm?
    /// Whether the request is sent once more with the other method if the server refuses the client.
    package var triesOtherMethod = true
    let secret: Secret<ClientSecret>?
    /// The parts of an assertion except the key. If there is an assertion, `secret` is the key.
    let assertion: Assertion?

    struct Assertion: Sendable {
        /// The server's issuer, or its token endpoint.
        let audience: String
        let now: @Sendable () -> UnixTime
    }

    private init(
        method: Method, basicForm: BasicForm? = nil, secret: consuming Secret<ClientSecret>?,
        assertion: Assertion? = nil
    ) {
        self.method = method
        self.basicForm = basicForm
        self.secret = secret
        self.assertion = assertion
    }

    /// A public client.
    package static var none: ClientAuthentication { ClientAuthentication(method: .none, secret: nil) }

    /// Throws `.invalidConfiguration(.clientSecret)` unless the secret is 1 to 4,096 characters of printable ASCII
    /// or spaces (RFC 6749 appendix A.2).
    ///
    /// - Parameter form: `TokenResponse.acceptedBasicForm` of the sign-in. Without it the server is tried with the
    ///   form-encoded and then with the raw one, which is fine for a code; but a server that spends a refresh token
    ///   before it looks at the client (glewlwyd does) has none left for the second try.
    package static func secretBasic(
        _ secret: consuming Secret<ClientSecret>, form: BasicForm? = nil
    ) throws(OAuthError) -> ClientAuthentication {
        ClientAuthentication(method: .secretBasic, basicForm: form, secret: try checked(secret))
    }

    /// Throws `.invalidConfiguration(.clientSecret)` unless the secret is 1 to 4,096 characters of printable ASCII
    /// or spaces (RFC 6749 appendix A.2).
    ///
    /// - Parameter form: as for `secretBasic`.
    package static func secretPost(
        _ secret: consuming Secret<ClientSecret>, form: BasicForm? = nil
    ) throws(OAuthError) -> ClientAuthentication {
        ClientAuthentication(method: .secretPost, basicForm: form, secret: try checked(secret))
    }

    /// Throws `.invalidConfiguration(.clientKey)` unless the secret is a private key as `ES256Key.encoded` writes it.
    ///
    /// - Parameter audience: the server's issuer, or its token endpoint.
    package static func privateKeyJWT(
        _ key: consuming Secret<ClientSecret>, audience: String, now: @escaping @Sendable () -> UnixTime
    ) throws(OAuthError) -> ClientAuthentication {
        let authentication = ClientAuthentication(
            method: .privateKeyJWT, secret: key, assertion: Assertion(audience: audience, now: now))
        _ = try authentication.key()
        return authentication
    }

    /// The client's private key.
    func key() throws(OAuthError) -> ES256Key {
        guard let secret = secret?.duplicate(), let key = try Self.key(in: secret) else {
            throw OAuthError(.invalidConfiguration(.clientKey))
        }
        return key
    }

    /// The private key that a secret is; `nil` for any other secret.
    private static func key(in secret: borrowing Secret<ClientSecret>) throws(OAuthError) -> ES256Key? {
        try mappingError({ OAuthError(.noLibrary($0)) }) { () throws(LibraryFailure) in
            try ES256Key(decoding: secret.duplicate(as: PrivateKey.self))
        }
    }

    /// The same once more, with the form that the server has taken since.
    func duplicate(form: BasicForm? = nil) -> ClientAuthentication {
        var copy = ClientAuthentication(
            method: method, basicForm: form ?? basicForm, secret: secret?.duplicate(), assertion: assertion)
        copy.triesOtherMethod = triesOtherMethod
        return copy
    }

    /// The client's secret, for a server with a way of its own.
    package func duplicateSecret() -> Secret<ClientSecret>? { secret?.duplicate() }

    private static func checked(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> Secret<ClientSecret> {
        let valid = secret.withExposedBytes { ASCII.isVisible($0, limit: 4096) }
        guard valid else { throw OAuthError(.invalidConfiguration(.clientSecret)) }
        // A private key, which is stored in a secret's place, is never sent to a server.
        if let _ = try key(in: secret) { throw OAuthError(.invalidConfiguration(.clientSecret)) }
        return secret
    }
}

/// `Basic` and the base64 text of `id:secret`.
enum BasicCredentials {
    static func field(
        clientID: String, secret: borrowing Secret<ClientSecret>, formEncoded: Bool
    ) throws(OAuthError) -> Secret<MessageBody> {
        var pair = SecretBuilder(capacity: 240, limit: 32 << 10)
        try mappingError(OAuthError.tooLarge) {
            () throws(SecretBuilder.LimitExceeded) in
            if formEncoded {
                let id = Array(clientID.utf8)
                try FormEncoding.append(id.span, to: &pair, space: .plus)
                try pair.append(UInt8(ascii: ":"))
                try secret.withExposedBytes { (bytes) throws(SecretBuilder.LimitExceeded) in
                    try FormEncoding.append(bytes, to: &pair, space: .plus)
                }
            } else {
                try pair.append(publicText: clientID + ":")
                try pair.append(secret)
            }
        }
        let text = pair.finish(as: MessageBody.self).base64Encoded()
        var sink = AuthorizationFieldSink(scheme: "Basic")
        try text.pour(into: &sink)
        return sink.finish()
    }

    /// Whether the two ways to write the credentials differ, so that a second try makes sense.
    static func encodingMatters(clientID: String, secret: borrowing Secret<ClientSecret>) throws(OAuthError) -> Bool {
        let encoded = try field(clientID: clientID, secret: secret, formEncoded: true)
        let raw = try field(clientID: clientID, secret: secret, formEncoded: false)
        return !encoded.matches(raw)
    }
}

/// The client as the server knows it: the client ID, its scopes, and its redirect address. It contains no secret.
package struct ClientConfiguration: Sendable, Hashable {
    /// 1 to 2,048 printable ASCII characters (RFC 6749 appendix A.1).
    package let clientID: String
    package let redirect: RedirectURI
    package var scopes: ScopeList
    /// Sent with each request for a code or a machine's tokens, such as `access_type=offline` for Google.
    package let extraParameters: [AuthorizationParameter]
    /// The resource that tokens are for (RFC 8707), sent with each request for a code or for tokens.
    package var resource: String?

    package init(
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
