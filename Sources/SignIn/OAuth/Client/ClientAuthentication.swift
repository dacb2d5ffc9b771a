internal import LatchkeySystem
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

    /// The method of a client that registers itself: none where the server offers that, so that there is no secret to
    /// store, else `methodWithSecret`.
    package static func methodToRegister(offered: Set<Method>?) throws(OAuthError) -> Method {
        if offered?.contains(.none) == true { return .none }
        return try methodWithSecret(offered: offered)
    }

    /// How the two parts of Basic credentials are written. RFC 6749 section 2.3.1 wants them form-encoded; some servers
    /// take them raw. It matters only where they hold other characters than letters, digits and `*-._`.
    package enum BasicForm: String, Sendable, Hashable, CaseIterable {
        case formEncoded = "form-encoded"
        case raw
    }

    package let method: Method
    /// What the server is known to take; `nil` to find out.
    let basicForm: BasicForm?
    let secret: Secret<ClientSecret>?

    private init(method: Method, basicForm: BasicForm? = nil, secret: consuming Secret<ClientSecret>?) {
        self.method = method
        self.basicForm = basicForm
        self.secret = secret
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
    package static func secretPost(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> ClientAuthentication
    {
        ClientAuthentication(method: .secretPost, secret: try checked(secret))
    }

    /// The same once more, with the form that the server has taken since.
    func duplicate(form: BasicForm? = nil) -> ClientAuthentication {
        ClientAuthentication(method: method, basicForm: form ?? basicForm, secret: secret?.duplicate())
    }

    /// The client's secret, for a server with a way of its own.
    package func duplicateSecret() -> Secret<ClientSecret>? { secret?.duplicate() }

    private static func checked(_ secret: consuming Secret<ClientSecret>) throws(OAuthError) -> Secret<ClientSecret> {
        let valid = secret.withExposedBytes { ASCII.isVisible($0, limit: 4096) }
        guard valid else { throw OAuthError(.invalidConfiguration(.clientSecret)) }
        return secret
    }
}
