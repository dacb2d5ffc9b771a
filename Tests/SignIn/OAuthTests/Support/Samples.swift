import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets

/// Servers, clients and responses that the tests share.
///
/// What they are made of stands in the tests' source: one that is malformed is a mistake there, and ends the run
/// (`try!`).
enum Sample {
    static let issuer = try! Issuer("https://id.example")

    /// - Parameter issuer: `nil` for a server configured without one, as GitHub is.
    static func server(
        issuer: Issuer? = Sample.issuer, announcesIssuer: Bool = false, commas: Bool = false,
        authorization: String = "https://id.example/authorize", device: String? = nil, pushing: String? = nil,
        registration: String? = nil
    ) -> AuthorizationServerMetadata {
        try! AuthorizationServerMetadata(
            issuer: issuer, authorizationEndpoint: HTTPURL(authorization),
            tokenEndpoint: HTTPURL("https://id.example/token"),
            revocationEndpoint: HTTPURL("https://id.example/revoke"), deviceAuthorizationEndpoint: device.map(url),
            pushedAuthorizationRequestEndpoint: pushing.map(url), registrationEndpoint: registration.map(url),
            announcesIssuerInResponses: announcesIssuer, separatesScopesByComma: commas)
    }

    static func url(_ text: String) -> HTTPURL { try! HTTPURL(text) }

    static func client(
        scopes: ScopeList = ["repo"], redirect: String = "http://127.0.0.1:4711/callback",
        extra: [AuthorizationParameter] = []
    ) -> ClientConfiguration {
        try! ClientConfiguration(
            clientID: "client one", redirect: RedirectURI(redirect, allowingAnyPrivateScheme: true), scopes: scopes,
            extraParameters: extra)
    }

    static func pending(
        server: AuthorizationServerMetadata = Sample.server(), client: ClientConfiguration = Sample.client()
    ) -> PendingAuthorization {
        try! AuthorizationRequest(server: server, client: client).begin(random: .system)
    }

    /// A code for an attempt, as its own server responds.
    static func callback(
        server: AuthorizationServerMetadata = Sample.server(), client: ClientConfiguration = Sample.client(),
        code: String = "c0de"
    ) throws(OAuthError) -> ValidatedCallback {
        let pending = pending(server: server, client: client)
        let state = try parameter("state", of: pending)
        return try pending.validate(response("code=\(code)&state=\(state)"))
    }

    static func response(_ query: String) throws(OAuthError) -> AuthorizationResponse {
        let bytes = Array(query.utf8)
        return try AuthorizationResponse(query: bytes.span)
    }

    static func parameter(_ name: String, of pending: borrowing PendingAuthorization) throws(OAuthError) -> String {
        let url = try pending.authorizationURL().reveal()
        return field(name, of: url[url.index(after: url.firstIndex(of: "?")!)...]) ?? ""
    }

    static let tokens = #"{"access_token":"at-1","token_type":"bearer","scope":"repo"}"#
}
