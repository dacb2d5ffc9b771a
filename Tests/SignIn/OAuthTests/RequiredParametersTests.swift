import Foundation
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeySecrets
import Testing

@testable import LatchkeyOAuth

/// Each request beside the parameters that its RFC requires.
///
/// A pushed request lacked `client_id` where the client authenticates by Basic, and no test compared requests with the
/// lists of the RFCs. Each row of the table is one request, and is sent by each method of client authentication.
@Suite struct RequiredParametersTests {
    private static let server = Sample.server(
        device: "https://id.example/device", pushing: "https://id.example/par",
        registration: "https://id.example/register")
    private static let client = Sample.client(scopes: ["openid", "offline_access"])

    struct Row: Sendable, CustomTestStringConvertible {
        let request: String
        /// The RFC that requires the parameters.
        let source: String
        let required: Set<String>
        /// Whether `client_id` is required only of a client that doesn't authenticate (RFC 6749 section 3.2.1).
        var namesClientByCredentials = true
        /// Whether the client authenticates: at the authorization and registration endpoints it doesn't.
        var authenticates = true
        let send: @Sendable (ScriptedHTTPClient, borrowing ClientAuthentication) async throws(OAuthError) -> String

        var testDescription: String { "\(request) (\(source))" }
    }

    /// A form that was posted; `nil` for the request's own query.
    private static func body(_ http: ScriptedHTTPClient) -> String { http.requests.last?.body ?? "" }

    private static let authorization: Set<String> = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "prompt",
    ]

    static let table = [
        Row(
            request: "authorization request",
            source: "RFC 6749 4.1.1, RFC 7636 4.3, OpenID Connect Core 3.1.2.1 and 11", required: authorization,
            namesClientByCredentials: false, authenticates: false
        ) { _, _ throws(OAuthError) in
            let url = try Sample.pending(server: server, client: client).authorizationURL().reveal()
            return String(url[url.index(after: url.firstIndex(of: "?")!)...])
        },
        Row(
            request: "pushed authorization request", source: "RFC 9126 2.1", required: authorization,
            namesClientByCredentials: false
        ) { http, authentication throws(OAuthError) in
            _ = try await PushedRequestEndpoint(server: server, client: client, http: http)!.push(
                Sample.pending(server: server, client: client), authentication: authentication)
            return body(http)
        },
        Row(
            request: "authorization request after a push", source: "RFC 9126 4",
            required: ["client_id", "request_uri"],
            namesClientByCredentials: false, authenticates: false
        ) { http, authentication throws(OAuthError) in
            let url = try await PushedRequestEndpoint(server: server, client: client, http: http)!.push(
                Sample.pending(server: server, client: client), authentication: authentication
            ).reveal()
            return String(url[url.index(after: url.firstIndex(of: "?")!)...])
        },
        Row(
            request: "access token request", source: "RFC 6749 4.1.3, RFC 7636 4.5",
            required: ["grant_type", "code", "redirect_uri", "code_verifier", "client_id"]
        ) { http, authentication throws(OAuthError) in
            let client = Sample.client()
            _ = try await TokenEndpoint(server: Sample.server(), client: client, http: http).exchange(
                Sample.callback(client: client), authentication: authentication)
            return body(http)
        },
        Row(request: "refresh", source: "RFC 6749 6", required: ["grant_type", "refresh_token", "client_id"]) {
            http, authentication throws(OAuthError) in
            _ = try await TokenEndpoint(server: server, client: client, http: http).refresh(
                Secret("r"), authentication: authentication)
            return body(http)
        },
        Row(request: "device authorization request", source: "RFC 8628 3.1", required: ["client_id", "scope"]) {
            http, authentication throws(OAuthError) in
            _ = try await DeviceAuthorizationEndpoint(server: server, client: client, http: http)!.begin(
                authentication: authentication)
            return body(http)
        },
        Row(
            request: "device access token request", source: "RFC 8628 3.4",
            required: ["grant_type", "device_code", "client_id"]
        ) { http, authentication throws(OAuthError) in
            let device = try await DeviceAuthorizationEndpoint(server: server, client: client, http: http)!.begin(
                authentication: authentication)
            _ = try await TokenEndpoint(server: server, client: client, http: http).poll(
                device, authentication: authentication, timeout: .seconds(60),
                clock: PollClock(now: { .zero }, sleep: { _ in }))
            return body(http)
        },
        Row(
            request: "revocation of a refresh token", source: "RFC 7009 2.1",
            required: ["token", "token_type_hint", "client_id"]
        ) { http, authentication throws(OAuthError) in
            try await RevocationEndpoint(server: server, client: client, http: http)!.revoke(
                Secret<RefreshToken>("r"), authentication: authentication)
            return body(http)
        },
        Row(
            request: "revocation of an access token", source: "RFC 7009 2.1",
            required: ["token", "token_type_hint", "client_id"]
        ) { http, authentication throws(OAuthError) in
            try await RevocationEndpoint(server: server, client: client, http: http)!.revoke(
                Secret<AccessToken>("a"), authentication: authentication)
            return body(http)
        },
        Row(
            request: "registration at Mastodon", source: "its own API",
            required: ["client_name", "redirect_uris", "scopes"], authenticates: false
        ) { http, _ throws(OAuthError) in
            _ = try await RegistrationEndpoint(
                url: Sample.url("https://id.example/apps"), dialect: .mastodon, http: http
            )
            .register(ClientRegistration(name: "App", redirects: [client.redirect], scopes: client.scopes))
            return body(http)
        },
    ]

    /// Whatever is requested, this answers it.
    private static let answer =
        #"{"request_uri":"urn:x","expires_in":600,"access_token":"a","token_type":"Bearer","device_code":"d","#
        + #""user_code":"u","verification_uri":"https://id.example/enter","client_id":"c"}"#

    @Test(arguments: table, ClientAuthentication.Method.allCases)
    func `each request has what its RFC requires, each parameter once and none empty`(
        row: Row, method: ClientAuthentication.Method
    ) async throws {
        let authentication: ClientAuthentication =
            switch method {
            case .none: .none
            case .secretBasic: try .secretBasic(Secret("s3cret"))
            case .secretPost: try .secretPost(Secret("s3cret"))
            case .privateKeyJWT:
                try .privateKeyJWT(
                    ES256Key.generate().encoded().repurposed(as: ClientSecret.self), audience: "https://id.example",
                    now: UnixTime.now)
            }
        let http = ScriptedHTTPClient(repeating: .json(Self.answer))
        let fields = formFields(try await row.send(http, authentication))
        var required = row.required
        if row.authenticates {
            // One method at a time (RFC 6749 section 2.3).
            let basic = http.requests.last?.authorization?.hasPrefix("Basic ")
            #expect(basic == (method == .secretBasic ? true : nil))
            if method == .secretPost { required.insert("client_secret") }
            if method == .privateKeyJWT { required.formUnion(["client_assertion", "client_assertion_type"]) }
            if method == .secretBasic, row.namesClientByCredentials { required.remove("client_id") }
        }
        #expect(Set(fields.map(\.name)) == required)
        #expect(fields.count == required.count && fields.allSatisfy { !$0.value.isEmpty })
    }

    /// Members of a request that is JSON: RFC 7591 section 2, with each default that would be another.
    @Test(arguments: ClientAuthentication.Method.allCases)
    func `a registration has what RFC 7591 requires`(method: ClientAuthentication.Method) async throws {
        let http = ScriptedHTTPClient(.json(#"{"client_id":"c","client_secret":"s"}"#))
        _ = try await RegistrationEndpoint(server: Self.server, http: http)!.register(
            ClientRegistration(name: "App", redirects: [Self.client.redirect], scopes: ["read"], method: method))
        let document = try JSONSerialization.jsonObject(with: Data(Self.body(http).utf8)) as? [String: Any] ?? [:]
        #expect(
            Set(document.keys) == [
                "client_name", "application_type", "redirect_uris", "grant_types", "response_types",
                "token_endpoint_auth_method", "scope",
            ])
        #expect(document["redirect_uris"] as? [String] == ["http://127.0.0.1:4711/callback"])
        #expect(document["token_endpoint_auth_method"] as? String == method.rawValue)
    }

    /// RFC 9449 section 4.2: at an endpoint of the server, and with an access token.
    @Test func `a DPoP proof has what RFC 9449 requires`() async throws {
        let signer = DPoPProofSigner(key: try .generate())
        let answer = ScriptedHTTPClient.Response.fields(
            200, [HeaderField("DPoP-Nonce", "n-1")!], #"{"access_token":"a","token_type":"DPoP"}"#)
        let http = ScriptedHTTPClient(answer, answer)
        _ = try await TokenEndpoint(server: Self.server, client: Self.client, http: http, dpop: signer).refresh(
            Secret("r"), authentication: .none)
        _ = try await ResourceClient(http: http, dpop: signer).send(
            GuardedRequest(.get, Sample.url("https://id.example/token")), token: Secret("a"))
        // `exp` is an addition of ours.
        for (request, more) in zip(http.requests, [["exp"], ["exp", "ath", "nonce"]]) {
            let parts = try DPoPTests.Parts(#require(request.proof))
            let names = try [parts.header, parts.payload].map { text in
                Set((try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]).keys)
            }
            #expect(names == [["typ", "alg", "jwk"], Set(["jti", "htm", "htu", "iat"] + more)])
        }
    }
}
