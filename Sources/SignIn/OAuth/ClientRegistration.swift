internal import LatchkeyJSON
package import LatchkeyHTTP
package import LatchkeyLog

/// A client's registration (RFC 7591 section 2). It doesn't contain a secret.
package struct ClientRegistration: Sendable, Hashable {
    package var name: String
    package var redirects: [RedirectURI]
    package var scopes: ScopeList
    package var grantTypes: [String]
    package var method: ClientAuthentication.Method
    /// Whether tokens are to be bound to a key (RFC 9449 section 5.2).
    package var usesDPoP: Bool

    package init(
        name: String, redirects: [RedirectURI], scopes: ScopeList = [],
        grantTypes: [String] = ["authorization_code", "refresh_token"],
        method: ClientAuthentication.Method = .none, usesDPoP: Bool = false
    ) {
        self.name = name
        self.redirects = redirects
        self.scopes = scopes
        self.grantTypes = grantTypes
        self.method = method
        self.usesDPoP = usesDPoP
    }
}

/// A client as the server knows it (RFC 7591 section 3.2.1).
package struct ClientIdentity: ~Copyable, Sendable {
    package let clientID: String
    package let secret: Secret<ClientSecret>?
    /// How it proves itself, which may be another way than was requested.
    package let method: ClientAuthentication.Method
}

/// Registers clients at a server (RFC 7591), without an access token of its own.
package struct RegistrationEndpoint: Sendable {
    /// The form of a registration that a server accepts.
    package enum Dialect: Sendable, Hashable {
        /// As RFC 7591 says: JSON.
        case standard
        /// Mastodon's `/api/v1/apps`: a form, and a secret for each client.
        case mastodon
    }

    private let url: HTTPURL
    private let dialect: Dialect
    private let http: any HTTPTransport
    private let log: RedactedLogger

    /// Returns `nil` when the server has no such endpoint.
    package init?(server: AuthorizationServerMetadata, http: any HTTPTransport, log: RedactedLogger = .disabled) {
        guard let url = server.registrationEndpoint else { return nil }
        self.init(url: url, dialect: .standard, http: server.transport(http), log: log)
    }

    /// An endpoint at a known address.
    package init(url: HTTPURL, dialect: Dialect, http: any HTTPTransport, log: RedactedLogger = .disabled) {
        self.url = url
        self.dialect = dialect
        self.http = http
        self.log = log
    }

    /// Registers a client. Some servers respond with 200 where RFC 7591 has 201.
    ///
    /// Throws `.requestRefused(.registration, …)`, `.networkError`, `.invalidResponse(.registration)` for a response
    /// without a client id, or with a way of authentication that we don't have or that lacks its secret.
    package func register(_ client: ClientRegistration) async throws(OAuthError) -> ClientIdentity {
        let request =
            switch dialect {
            case .standard: GuardedRequest(.post, url, fields: EndpointFields.jsonBody, body: try Self.body(client))
            case .mastodon: GuardedRequest(.post, url, fields: EndpointFields.form, body: try Self.form(client))
            }
        let received = try await http.response(to: request, limits: EndpointClient.limits, log: log)
        let response = EndpointResponse(received)
        guard response.isSuccess else {
            throw OAuthError(.requestRefused(.registration, statusCode: response.status), serverError: response.error)
        }
        let malformed = OAuthError(.invalidResponse(.registration))
        guard let document = response.document, let member = document.member("client_id"),
            let clientID = try? document.publicText(member, limit: 2048), !clientID.isEmpty,
            clientID.utf8.allSatisfy({ ASCII.isVisible($0) })
        else { throw malformed }
        // A server may change what it registers, but a code must not come to an address that we didn't request.
        let redirects = document.member("redirect_uris").map { list in
            document.elements(of: list).compactMap { try? document.publicText($0, limit: RedirectURI.maximumByteCount) }
        }
        guard redirects.map({ known in client.redirects.allSatisfy { known.contains($0.text) } }) ?? true else {
            throw malformed
        }
        let secret = try Self.secret(in: document)
        // A server that says nothing of the method and gives no secret takes the client for a public one. Mastodon
        // always gives a secret.
        let isPublic = secret == nil && dialect == .standard
        let method = try Self.method(in: document) ?? (isPublic ? .none : client.method)
        guard method == .none || secret != nil else { throw malformed }
        return ClientIdentity(clientID: clientID, secret: method == .none ? nil : secret, method: method)
    }

    private static func secret(in document: borrowing JSONDocument) throws(OAuthError) -> Secret<ClientSecret>? {
        guard let member = document.member("client_secret") else { return nil }
        guard let secret = try? document.secret(member, as: ClientSecret.self),
            secret.withExposedBytes({ ASCII.isVisible($0, limit: 4096) })
        else { throw OAuthError(.invalidResponse(.registration)) }
        return secret
    }

    private static func method(
        in document: borrowing JSONDocument
    ) throws(OAuthError) -> ClientAuthentication.Method? {
        guard let member = document.member("token_endpoint_auth_method") else { return nil }
        // glewlwyd responds with a list.
        let values = member.kind == .array ? document.elements(of: member) : [member]
        guard let value = values.first, let text = try? document.publicText(value, limit: 64),
            let method = ClientAuthentication.Method(rawValue: text), method != .privateKeyJWT
        else { throw OAuthError(.invalidResponse(.registration)) }
        return method
    }

    /// Each redirect address on a line of its own; permissions as everywhere, joined by spaces.
    private static func form(_ client: ClientRegistration) throws(OAuthError) -> Secret<MessageBody> {
        var form = FormBody()
        try form.append("client_name", text: client.name)
        try form.append("redirect_uris", text: client.redirects.map(\.text).joined(separator: "\n"))
        if !client.scopes.isEmpty { try form.append("scopes", text: client.scopes.text) }
        return form.finish(as: MessageBody.self)
    }

    private static func body(_ client: ClientRegistration) throws(OAuthError) -> Secret<MessageBody> {
        return try mappingError(OAuthError.unwritable) {
            () throws(JSONError) in
            var json = JSONWriter(limit: 64 << 10)
            try json.member("client_name", publicText: client.name)
            try json.member("application_type", publicText: "native")
            try json.member("redirect_uris", publicTexts: client.redirects.map(\.text))
            try json.member("grant_types", publicTexts: client.grantTypes)
            try json.member("response_types", publicTexts: ["code"])
            try json.member("token_endpoint_auth_method", publicText: client.method.rawValue)
            if !client.scopes.isEmpty { try json.member("scope", publicText: client.scopes.text) }
            if client.usesDPoP { try json.member("dpop_bound_access_tokens", boolean: true) }
            return try json.finish(as: MessageBody.self)
        }
    }
}
