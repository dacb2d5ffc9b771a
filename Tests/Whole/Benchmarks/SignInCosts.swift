internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyJSON
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyTestServer
internal import Synchronization
internal import TestServices

/// What a sign-in costs: reading the tokens, a whole code flow, and a thousand tasks that meet one ended session.
enum SignInCosts {
    static func run() async throws {
        try await tokenResponse()
        try await codeFlow()
        try await manyTasks()
    }

    // MARK: - Reading a response

    /// As a token endpoint responds: tokens of a usual length, and members that no client reads.
    static let response = """
        {"access_token":"\(String(repeating: "aB3-", count: 200))","token_type":"Bearer","expires_in":3600,\
        "refresh_token":"\(String(repeating: "Zz9_", count: 16))","scope":"read write","created_at":1790000000,\
        "extra":{"list":[1,2,3],"nested":{"truth":true}}}
        """

    private static func tokenResponse() async throws {
        let text = Array(response.utf8)
        let body = Secret<MessageBody>(copying: text.span)
        let python = try await PythonJSON.microseconds(for: response)
        let rows = try await Measurement.take(
            rounds: 15, count: 500,
            [
                (
                    "read into guarded memory: both tokens, lifetime, scopes",
                    {
                        let document = try JSONDocument(body.duplicate(as: MessageBody.self))
                        guard let access = document.member("access_token"), let scope = document.member("scope"),
                            let refresh = document.member("refresh_token"),
                            let lifetime = document.member("expires_in")
                        else { throw Incomplete() }
                        _ = try document.secret(access, as: AccessToken.self)
                        _ = try document.secret(refresh, as: RefreshToken.self)
                        _ = (try document.publicText(scope, limit: 1024), try document.integer(lifetime))
                    }
                )
            ])
        Comparison(
            title: "A token response of \(text.count) bytes, read",
            rows: [Measurement(name: "json.loads of Python 3", median: .nanoseconds(Int(python * 1000)))] + rows
        ).show()
    }

    // MARK: - A whole code flow

    private static func codeFlow() async throws {
        let canned = CannedServer(tokenResponse: response)
        let provider = try OAuthProvider.issuer(
            Issuer("https://login.example"), name: .gitHub, clientID: "latchkey", scopes: ["read", "write"])
        let directory = try TestDirectory()
        let service = SignInService(
            provider: provider, store: try InMemoryStore(),
            context: SignInContext(http: canned, leases: LeaseDirectory(path: directory.path + "/leases")))
        func signIn() async throws {
            try await service.signIn(presenting: PromptAgent(), account: "ada", deadline: .after(.seconds(60)))
        }
        // Discovery, once for a service.
        try await signIn()
        let before = try CPUTime.ofProcess()
        let count = 500
        for _ in 0..<count { try await signIn() }
        let used = (try CPUTime.ofProcess() - before) / count
        print("\nA code flow without network and browser: verifier, state, address, callback, exchange, session kept")
        print("  \(used.formattedMicroseconds) µs of processor time, all threads; \(canned.requestCount) requests")
    }

    // MARK: - Many tasks

    private static func manyTasks() async throws {
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(consent: .automatic))
        let directory = try TestDirectory()
        let http = CurlTransport()
        let clock = MovedClock()
        let service = SignInService(
            provider: try .issuer(
                Issuer(server.issuer), name: .gitHub, clientID: "latchkey", scopes: ["read", "write"]),
            store: try InMemoryStore(),
            context: SignInContext(
                http: http, leases: LeaseDirectory(path: directory.path + "/leases"), now: { clock.time }))
        let follower = PageFollower(http: http)
        try await service.signIn(
            presenting: BrowserUserAgent(.opener { link throws(UserAgentError) in try await follower.follow(link) }),
            deadline: .after(.seconds(60)))
        func refresh(tasks count: Int) async throws {
            clock.advance(seconds: 4000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask { _ = try await service.accessToken() } }
                try await group.waitForAll()
            }
        }
        let before = server.record.refreshes
        let rounds = 15
        let rows = try await Measurement.take(
            rounds: rounds, count: 1,
            [
                ("one task", { try await refresh(tasks: 1) }),
                ("a thousand tasks", { try await refresh(tasks: 1000) }),
            ])
        Comparison(title: "One ended session, a token for each task (loopback server)", rows: rows).show()
        let refreshes = server.record.refreshes - before
        let replays = server.record.replays
        print("  \(refreshes) refreshes for \(2 * rounds) ended sessions; \(replays) refresh tokens sent twice")
    }

    private struct Incomplete: Error {}
}

/// A clock that is moved by hand.
final class MovedClock: Sendable {
    private let offset = Mutex<Int64>(0)

    var time: UnixTime { UnixTime(seconds: UnixTime.now().seconds + offset.withLock { $0 }) }

    func advance(seconds: Int64) { offset.withLock { $0 += seconds } }
}

/// A server that has each response ready.
final class CannedServer: HTTPTransport {
    private let tokenResponse: [UInt8]
    private let metadata: [UInt8]
    private let requests = Mutex(0)

    var requestCount: Int { requests.withLock { $0 } }

    init(tokenResponse: String) {
        self.tokenResponse = Array(tokenResponse.utf8)
        metadata = Array(
            """
            {"issuer":"https://login.example","authorization_endpoint":"https://login.example/authorize",\
            "token_endpoint":"https://login.example/token","response_types_supported":["code"],\
            "code_challenge_methods_supported":["S256"]}
            """.utf8)
    }

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        requests.withLock { $0 += 1 }
        let body = request.method == .post ? tokenResponse : metadata
        return GuardedResponse(
            status: 200, fields: [HeaderField("Content-Type", "application/json")].compactMap(\.self),
            body: Secret(copying: body.span))
    }
}

/// A person and a server that respond at once, with the state that they were sent.
private struct PromptAgent: RedirectUserAgent {
    func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        Attempt(redirect: redirect.withPort(9))
    }

    private final class Attempt: UserAgentAttempt {
        let redirect: RedirectURI

        init(redirect: RedirectURI) { self.redirect = redirect }

        func present(
            _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
        ) async throws(UserAgentError) -> AuthorizationResponse {
            let address = url.takeAddress()
            let mark = Array("&state=".utf8)
            let query: [UInt8] = address.withExposedBytes { bytes in
                var text: [UInt8] = []
                for index in bytes.indices { text.append(bytes[index]) }
                guard let start = text.indices.first(where: { text[$0...].starts(with: mark) }) else { return [] }
                return Array("code=aCode".utf8) + text[start...].prefix(mark.count + 43)
            }
            guard let response = try? AuthorizationResponse(query: query.span), gate.admit(response) == .admitted else {
                throw .unavailable(.pageFailed)
            }
            return response
        }

        func finish(_ outcome: SignInOutcome) async {}
    }
}

/// Python's own reader, timed by Python.
private enum PythonJSON {
    static func microseconds(for text: String) async throws -> Double {
        let script = """
            import json, statistics, sys, timeit
            text = sys.stdin.read()
            times = timeit.repeat(lambda: json.loads(text), number=500, repeat=15)
            print(statistics.median(times) / 500 * 1e6)
            """
        let output = try await Program("python3").run(["-c", script], input: Array(text.utf8))
        guard let figure = Double(output.outputText.split(whereSeparator: \.isWhitespace).first ?? "") else {
            throw Unreadable()
        }
        return figure
    }

    private struct Unreadable: Error {}
}

/// The processor's time that this process used, all its threads together.
private enum CPUTime {
    static func ofProcess() throws -> Duration {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { throw Unavailable() }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private struct Unavailable: Error {}
}

extension Duration {
    fileprivate var formattedMicroseconds: String { "\(Int((self / .microseconds(1)).rounded()))" }
}
