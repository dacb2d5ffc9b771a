import Foundation
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyLoopback
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import Synchronization
import TestSecrets

/// An authorization server whose page responds as a test tells it, and remembers the requests.
final class ScriptedServer: Sendable {
    /// What the authorization page does with a request: given redirect address and state, it returns a location.
    typealias Page = @Sendable (_ redirect: String, _ state: String) -> String

    let server: LoopbackServer
    let metadata: AuthorizationServerMetadata

    init(page: @escaping Page = { "\($0)?code=the-code&state=\($1)" }) throws {
        let seen = Seen()
        server = try LoopbackServer { request in
            let query = Self.query(of: request)
            seen.queries.withLock { $0.append(query) }
            guard request.path == "/authorize" else {
                return LoopbackResponse(status: 404, contentType: "text/plain", publicText: "no\n")
            }
            return .redirect(publicLocation: page(query["redirect_uri"] ?? "", query["state"] ?? ""))
        }
        log = seen
        metadata = try AuthorizationServerMetadata(
            authorizationEndpoint: HTTPURL(server.origin + "/authorize"),
            tokenEndpoint: HTTPURL(server.origin + "/token"))
    }

    final class Seen: Sendable { let queries = Mutex<[[String: String]]>([]) }
    let log: Seen

    /// The queries of all authorization requests.
    var queries: [[String: String]] { log.queries.withLock { $0 } }

    static func query(of request: borrowing LoopbackRequest) -> [String: String] {
        let text =
            switch request.query {
            case .some(let query): query.testText
            case .none: ""
            }
        var result: [String: String] = [:]
        for item in URLComponents(string: "http://h/?" + text)?.queryItems ?? [] { result[item.name] = item.value }
        return result
    }

    /// Begins an attempt for an address that a listener got.
    func begin(_ redirect: RedirectURI) throws -> PendingAuthorization {
        let client = try ClientConfiguration(clientID: "client", redirect: redirect)
        return try AuthorizationRequest(server: metadata, client: client).begin(random: .system)
    }

    /// One attempt with this agent, from the listener to what the person is told at its end.
    func signIn(
        _ agent: some RedirectUserAgent, _ redirect: RedirectURI? = nil,
        outcome: SignInOutcome = .signedIn, deadline: Deadline = .unhurried
    ) async throws {
        let attempt = try await agent.begin(redirect ?? .loopback(path: "/callback"))
        let pending = try begin(attempt.redirect)
        do {
            let response = try await attempt.present(
                pending.authorizationURL(), gate: pending.responseGate(), deadline: deadline)
            _ = try pending.validate(response)
        } catch {
            await attempt.finish(.failed(cause: "no", hint: nil))
            throw error
        }
        await attempt.finish(outcome)
    }
}

/// What a page said.
struct Fetched {
    let status: Int
    let location: String?
    let policy: String?
    let text: String

    static let http = CurlTransport()

    /// Fetches without following redirects.
    static func get(_ url: String, method: GuardedRequest.Method = .get) async throws -> Fetched {
        let response = try await http.send(GuardedRequest(method, HTTPURL(url)))
        return Fetched(
            status: response.status, location: response.field("Location"),
            policy: response.field("Content-Security-Policy"), text: response.body.testText)
    }
}
