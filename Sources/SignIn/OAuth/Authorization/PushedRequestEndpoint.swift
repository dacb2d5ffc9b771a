internal import LatchkeyJSON
package import LatchkeyHTTP
package import LatchkeyLog

/// The purpose of a `request_uri`, which represents an authorization request for a short time (RFC 9126 section 2.2).
enum PushedRequest: SecretPurpose { static var name: StaticString { "pushed authorization request" } }

/// Pushes authorization requests to a server beforehand (RFC 9126), so that the browser's address holds none of it.
package struct PushedRequestEndpoint: Sendable {
    private let server: AuthorizationServerMetadata
    private let url: HTTPURL
    private let endpoint: EndpointClient
    private let provingEndpoint: EndpointClient
    private let provesAtOnce: Bool

    static let maximumRequestURIByteCount = 2048

    /// Returns `nil` for a server without such an endpoint.
    ///
    /// - Parameter dpop: the signer of the attempt's key. The request contains the key's thumbprint, and a proof if the
    ///   server requires one.
    /// - Parameter provesAtOnce: whether the first request contains a proof, for servers that require it (AT Protocol).
    ///   Other servers don't send a nonce at this endpoint.
    package init?(
        server: AuthorizationServerMetadata, client: ClientConfiguration, http: any HTTPTransport,
        dpop: DPoPProofSigner? = nil,
        provesAtOnce: Bool = false, log: RedactedLogger = .disabled
    ) {
        self.provesAtOnce = provesAtOnce
        guard let url = server.pushedAuthorizationRequestEndpoint else { return nil }
        self.server = server
        self.url = url
        let http = server.transport(http)
        endpoint = EndpointClient(clientID: client.clientID, http: http, log: log, alwaysNamesClient: true)
        provingEndpoint = EndpointClient(
            clientID: client.clientID, http: http, dpop: dpop, log: log, alwaysNamesClient: true)
    }

    /// Pushes an attempt's request, and returns the address to send the browser to: it names the request and the
    /// client.
    ///
    /// Throws `.requestRefused(.pushedAuthorization, …)`, `.networkError`, or `.invalidResponse(.pushedRequest)` for a
    /// response without a `request_uri` that can still be used.
    package func push(
        _ pending: borrowing PendingAuthorization, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) -> AuthorizationURL {
        let first = provesAtOnce ? provingEndpoint : endpoint
        var response = try await first.post(url, try pending.form(), authentication: authentication)
        if !provesAtOnce, provingEndpoint.dpop != nil,
            response.error == .useDPoPNonce || response.error == .invalidDPoPProof
        {
            response = try await provingEndpoint.post(url, try pending.form(), authentication: authentication)
        }
        guard response.isSuccess else {
            throw OAuthError(
                .requestRefused(.pushedAuthorization, statusCode: response.status), serverError: response.error)
        }
        let malformed = OAuthError(.invalidResponse(.pushedRequest))
        guard let document = response.document, let member = document.member("request_uri"),
            let lifetime = document.member("expires_in"), let seconds = try? document.double(lifetime), seconds > 0,
            let reference = try? document.secret(member, as: PushedRequest.self),
            reference.withExposedBytes({ ASCII.isVisible($0, limit: Self.maximumRequestURIByteCount) })
        else { throw malformed }
        return try pending.authorizationURL(naming: reference)
    }
}
