internal import Foundation

/// A real OAuth 2 and OpenID server (Debian's glewlwyd) of one test: on a free loopback port, in a directory of its
/// own, with one user and clients, ended with the value.
///
/// It compares redirect URIs byte for byte, port included, so a test names the ones it will use.
public final class Glewlwyd: Sendable {
    public static let user = "alice"
    public static let userPassword = "correct horse"

    /// The token endpoints, each with an issuer of its own.
    public enum Issuer: String, Sendable, CaseIterable {
        /// Access tokens live an hour; refresh tokens are used once, and reuse revokes the family.
        case hour
        /// Access tokens live as short as the test asks for; refresh tokens as above.
        case brief
        /// Pushed authorization requests are required.
        case pushed
        /// DPoP proofs need the server's nonce, each of which is good for three requests.
        case nonce
    }

    /// Clients made at the start. `native` is public and uses PKCE; `confidential` has a secret that needs escaping.
    public static let nativeClient = "native"
    public static let confidentialClient = "confidential"
    public static let confidentialSecret = "s3cr3t:/+ %&=\"~"

    public static let scopes = ["openid", "notes:read", "notes:write", "offline_access"]

    public let directory: TestDirectory
    /// `http://127.0.0.1:PORT`, or `https://…` with a private authority.
    public let base: String
    /// The PEM file to trust when the server speaks TLS.
    public let certificateAuthority: CertificateAuthority?
    private let server: RunningProgram

    public func issuer(_ issuer: Issuer) -> String { "\(base)/api/\(issuer.rawValue)" }

    /// Everything the server logged, which names users, clients and events.
    public func log() throws -> String { String(decoding: try directory.read("log"), as: UTF8.self) }

    /// How many access tokens an issuer gave to a client, refreshed ones included.
    public func accessTokensIssued(_ issuer: Issuer, client: String = nativeClient) throws -> Int {
        try events(of: issuer).count { $0.contains("Access token generated for client '\(client)'") }
    }

    /// How many refresh tokens an issuer revoked on a client's request.
    public func refreshTokensRevoked(_ issuer: Issuer, client: String = nativeClient) throws -> Int {
        try events(of: issuer).count { $0.contains("Refresh token generated for client '\(client)' revoked") }
    }

    private func events(of issuer: Issuer) throws -> [Substring] {
        try log().split(separator: "\n").filter { $0.contains("Plugin '\(issuer.rawValue)'") }
    }

    /// Starts the server and waits until it serves its configuration.
    ///
    /// - Parameters:
    ///   - redirectURIs: what its clients may name as `redirect_uri`.
    ///   - briefTokenSeconds: how long the access tokens of the issuer `brief` live.
    ///   - tls: whether it serves HTTPS, with a certificate that only `certificateAuthority` vouches for.
    ///   - pages: whether it has the pages that Debian installs, for a browser that runs scripts.
    public init(
        redirectURIs: [String], briefTokenSeconds: Int = 3, tls: Bool = false, pages: Bool = false
    ) async throws {
        directory = try TestDirectory()
        certificateAuthority = tls ? try await CertificateAuthority(in: directory) : nil
        let setup = GlewlwydSetup(directory: directory, authority: certificateAuthority, pages: pages)
        try await setup.makeDatabase()
        (server, base) = try await setup.start()
        try await setup.populate(base: base, redirectURIs: redirectURIs, briefTokenSeconds: briefTokenSeconds)
    }

    public func stop() async {
        // SIGINT is what glewlwyd ends on in order.
        await server.stop(SIGINT)
    }

    deinit { server.kill() }

    // MARK: - What a person does in the browser

    /// Signs the user in and consents to scopes; returns the session's cookie file for curl.
    public func consent(client: String = nativeClient, scopes: [String] = Glewlwyd.scopes) async throws -> String {
        let jar = directory / "cookies.\(UUID().uuidString)"
        let api = GlewlwydAPI(base: base, cookies: jar, authority: certificateAuthority?.certificate)
        try await api.send([
            .init("POST", "auth/", ["username": Self.user, "password": Self.userPassword]),
            .init("PUT", "auth/grant/" + client, ["scope": scopes.joined(separator: " ")]),
        ])
        return jar
    }

    /// Adds a client; the members are those of glewlwyd's API, over the defaults of the public client.
    public func addClient(_ members: sending [String: Any], redirectURIs: [String]) async throws {
        let api = GlewlwydAPI(
            base: base, cookies: directory / "cookies.admin", authority: certificateAuthority?.certificate)
        try await api.send([GlewlwydAPI.client(members, redirectURIs: redirectURIs)])
    }
}

/// glewlwyd's own administration interface, spoken through curl.
struct GlewlwydAPI {
    let base: String
    let cookies: String
    let authority: String?

    struct Request {
        let method: String
        let path: String
        let body: [String: Any]

        init(_ method: String, _ path: String, _ body: [String: Any]) {
            (self.method, self.path, self.body) = (method, path, body)
        }
    }

    /// Sends requests one after the other, and throws unless each answer is 200. All go through one curl: it takes longer
    /// to start than to ask, and keeps the cookies from one request to the next.
    func send(_ requests: [Request]) async throws {
        let options = try requests.map { request in
            let json = try JSONSerialization.data(withJSONObject: request.body)
            let body = String(decoding: json, as: UTF8.self).replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
            return """
                silent
                show-error
                noproxy = "*"
                cookie = "\(cookies)"
                cookie-jar = "\(cookies)"
                header = "Content-Type: application/json"
                write-out = "\\n%{http_code}\\n"
                request = "\(request.method)"
                url = "\(base)/api/\(request.path)"
                data-raw = "\(body)"
                \(authority.map { "cacert = \"\($0)\"" } ?? "")

                """
        }.joined(separator: "next\n")
        let run = try await Program("curl").run(["--config", "-"], input: Array(options.utf8))
        let output = try run.successful("curl").outputText
        let statuses = output.split(separator: "\n").filter { $0.count == 3 && Int($0) != nil }
        guard statuses.count == requests.count, statuses.allSatisfy({ $0 == "200" }) else {
            throw ServiceFailure("glewlwyd: \(requests.map { "\($0.method) \($0.path)" }) answered \(output)")
        }
    }

    static func client(_ members: [String: Any], redirectURIs: [String]) -> Request {
        var client: [String: Any] = [
            "enabled": true, "confidential": false, "redirect_uri": redirectURIs, "scope": Glewlwyd.scopes,
            "authorization_type": ["code", "refresh_token", "delete_token", "device_authorization"],
            "token_endpoint_auth_method": ["none"],
        ]
        client.merge(members) { _, new in new }
        client["name"] = client["client_id"]
        return Request("POST", "client/", client)
    }
}
