import Foundation
import LatchkeyHTTP
import LatchkeySecrets
import LatchkeyTestServer

/// A client that does each step by hand. What it handles are a test's throw-away secrets, so it may use strings.
struct TestClient {
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    let server: LoopbackAuthorizationServer
    var http = CurlTransport()
    var redirectURI = "http://127.0.0.1:4711/callback"
    var identifier = "latchkey"

    init(_ server: LoopbackAuthorizationServer) {
        self.server = server
    }

    /// A response with its body taken apart.
    struct Response {
        let status: Int
        let location: String?
        let text: String
        let fields: [HeaderField]

        init(_ response: consuming GuardedResponse) {
            status = response.status
            location = response.field("Location")
            fields = response.fields
            text = response.body.withExposedBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
        }

        var json: [String: String] {
            let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            return (object ?? [:]).mapValues { "\($0)" }
        }

        var form: [String: String] { TestClient.parameters(text) }

        /// The parameters of the redirect.
        var redirect: [String: String] {
            location.flatMap { $0.split(separator: "?", maxSplits: 1).last }.map { TestClient.parameters(String($0)) }
                ?? [:]
        }

        var code: String { redirect["code"] ?? "" }
    }

    static func parameters(_ text: String) -> [String: String] {
        var result: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            result[parts[0]] = parts.count > 1 ? parts[1].removingPercentEncoding : ""
        }
        return result
    }

    static func form(_ parameters: [String: String]) -> String {
        let allowed = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        return parameters.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed)!)" }.sorted()
            .joined(separator: "&")
    }

    // MARK: - Steps

    func authorize(
        at endpoint: String? = nil, _ changes: [String: String?] = [:]
    ) async throws -> Response {
        var parameters: [String: String] = [
            "response_type": "code", "client_id": identifier, "redirect_uri": redirectURI, "scope": "repo gist",
            "state": "st ate&1", "code_challenge": Self.challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { parameters[name] = value }
        return try await get((endpoint ?? server.authorizationEndpoint) + "?" + Self.form(parameters))
    }

    /// A whole sign-in; returns the token response.
    func signIn() async throws -> Response { try await exchange(code: authorize().code) }

    func exchange(
        at endpoint: String? = nil, code: String, _ changes: [String: String?] = [:], basic: String? = nil,
        accept: String = "application/json"
    ) async throws -> Response {
        var parameters: [String: String] = [
            "grant_type": "authorization_code", "client_id": identifier, "redirect_uri": redirectURI, "code": code,
            "code_verifier": Self.verifier,
        ]
        for (name, value) in changes { parameters[name] = value }
        return try await post(endpoint ?? server.tokenEndpoint, parameters, basic: basic, accept: accept)
    }

    func refresh(
        token: String, _ more: [String: String] = [:], at endpoint: String? = nil
    ) async throws -> Response {
        let own = ["grant_type": "refresh_token", "client_id": identifier, "refresh_token": token]
        return try await post(endpoint ?? server.tokenEndpoint, own.merging(more) { $1 })
    }

    func userInfo(token: String, at endpoint: String? = nil) async throws -> Response {
        let url = try HTTPURL(endpoint ?? server.userInfoEndpoint)
        return Response(try await http.send(GuardedRequest(.get, url, authorization: secret("Bearer " + token))))
    }

    // MARK: - Requests

    func get(_ url: String) async throws -> Response {
        Response(try await http.send(GuardedRequest(.get, HTTPURL(url))))
    }

    func post(
        _ url: String, _ parameters: [String: String], basic: String? = nil, accept: String = "application/json",
        type: String = "application/x-www-form-urlencoded"
    ) async throws -> Response {
        let fields = [HeaderField("Content-Type", type)!, HeaderField("Accept", accept)!]
        var request = GuardedRequest(.post, try HTTPURL(url), fields: fields, body: secret(Self.form(parameters)))
        if let basic { request.authorization = secret("Basic " + Data(basic.utf8).base64EncodedString()) }
        return Response(try await http.send(request))
    }

    func secret(_ text: String) -> Secret<MessageBody> {
        let bytes = Array(text.utf8)
        return Secret(copying: bytes.span)
    }
}
