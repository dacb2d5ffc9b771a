import LatchkeyHTTP
import LatchkeySecrets
import Synchronization
import Testing

@testable import LatchkeyOAuth

/// Sign-ins that are confirmed on another device (RFC 8628), on a clock that the tests turn.
@Suite struct DeviceGrantTests {
    private static let server = Sample.server(device: "https://id.example/device_authorization")

    private static let codes =
        #"{"device_code":"GmRh","user_code":"WDJB-MJHT","verification_uri":"https://id.example/device","expires_in":600"#

    /// Time that passes only while somebody sleeps.
    private final class FakeClock: Sendable {
        private let state = Mutex<(now: Duration, sleeps: [Duration])>((.zero, []))

        var sleeps: [Duration] { state.withLock { $0.sleeps } }

        var clock: PollClock {
            PollClock(
                now: { self.state.withLock { $0.now } },
                sleep: { time in
                    try Task.checkCancellation()
                    self.state.withLock { state in
                        state.now += time
                        state.sleeps.append(time)
                    }
                })
        }
    }

    private func begin(_ text: String) async throws(OAuthError) -> DeviceAuthorization {
        let http = ScriptedHTTPClient(.json(text))
        let endpoint = DeviceAuthorizationEndpoint(server: Self.server, client: Sample.client(), http: http)!
        return try await endpoint.begin(authentication: .none)
    }

    /// Polls through a script of responses; returns how long it slept before each request.
    private func poll(
        _ http: ScriptedHTTPClient, interval: String = #","interval":5"#, timeout: Duration = .seconds(86_400)
    ) async -> (sleeps: [Int64], error: OAuthError?) {
        let clock = FakeClock()
        let error = await failure { () async throws(OAuthError) in
            let device = try await begin(Self.codes + interval + "}")
            return try await TokenEndpoint(server: Self.server, client: Sample.client(), http: http).poll(
                device, authentication: .none, timeout: timeout, clock: clock.clock)
        }
        return (clock.sleeps.map(\.components.seconds), error)
    }

    private static let pending = ScriptedHTTPClient.Response.status(400, #"{"error":"authorization_pending"}"#)
    private static let slowDown = ScriptedHTTPClient.Response.status(400, #"{"error":"slow_down"}"#)
    private static let tokens = ScriptedHTTPClient.Response.json(Sample.tokens)

    @Test func `codes, address, lifetime and interval are read; the default interval is five seconds`() async throws {
        let told = try await begin(Self.codes + #","interval":7}"#)
        #expect(told.userCode.reveal() == "WDJB-MJHT" && told.deviceCode.reveal() == "GmRh")
        #expect(told.address.text == "https://id.example/device")
        #expect(told.lifetime == .seconds(600) && told.interval == .seconds(7))
        #expect(try await begin(Self.codes + "}").interval == .seconds(5))
        #expect(try await begin(Self.codes + #","interval":0}"#).interval == .seconds(1))
        let text = Self.codes.replacing("600", with: "\"600\"") + #","interval":"9"}"#
        let texts = try await begin(text)
        #expect(texts.lifetime == .seconds(600) && texts.interval == .seconds(9))
    }

    /// Auth0 gives no token for an API without `audience`; Google refuses parameters that it doesn't know.
    @Test func `the client's own parameters are sent, without those of browsers`() async throws {
        let client = Sample.client(
            extra: try ["audience", "access_type", "prompt"].map { (name) throws(OAuthError) in
                try AuthorizationParameter(name, "a&b")
            })
        let http = ScriptedHTTPClient(.json(Self.codes + "}"))
        _ = try await DeviceAuthorizationEndpoint(server: Self.server, client: client, http: http)!.begin(
            authentication: .none)
        #expect(http.requests.last?.body == "scope=repo&audience=a%26b&client_id=client+one")
    }

    @Test(arguments: [
        "{}", "[]", #"{"device_code":"a","user_code":"b","verification_uri":"http://id.example/","expires_in":60}"#,
        #"{"device_code":"a","user_code":"b","verification_uri":"javascript:x","expires_in":60}"#,
        #"{"device_code":"a","user_code":"\u001b[2J","verification_uri":"https://id.example/","expires_in":60}"#,
        #"{"device_code":"a","verification_uri":"https://id.example/","expires_in":60}"#,
        #"{"device_code":"a","user_code":"b","verification_uri":"https://id.example/"}"#,
        #"{"device_code":"a","user_code":"b","verification_uri":"https://id.example/","expires_in":-1}"#,
    ])
    func `incomplete codes are refused`(text: String) async {
        let error = await failure { () async throws(OAuthError) in try await begin(text) }
        #expect(error == OAuthError(.invalidResponse(.deviceCodes)))
    }

    @Test func `the client polls at the interval until the person has confirmed`() async throws {
        let http = ScriptedHTTPClient(Self.pending, Self.pending, Self.tokens)
        let (sleeps, error) = await poll(http)
        #expect(error == nil && sleeps == [5, 5, 5])
        #expect(
            http.requests.allSatisfy {
                field("grant_type", of: $0.body) == "urn:ietf:params:oauth:grant-type:device_code"
                    && field("device_code", of: $0.body) == "GmRh" && field("client_id", of: $0.body) == "client one"
            })
    }

    @Test func `each slow_down makes all later waits five seconds longer`() async {
        let http = ScriptedHTTPClient(
            Self.slowDown, Self.pending, Self.slowDown, Self.status200(#"{"error":"slow_down","interval":40}"#),
            Self.pending, Self.tokens)
        let (sleeps, error) = await poll(http)
        #expect(error == nil && sleeps == [5, 10, 10, 15, 40, 40])
    }

    private static func status200(_ text: String) -> ScriptedHTTPClient.Response { .status(200, text) }

    @Test func `a poll without a response doubles the wait`() async {
        let http = ScriptedHTTPClient(
            .failure(.timedOut), .failure(.connectionLost), .status(503, "busy"),
            .status(400, #"{"error":"temporarily_unavailable"}"#), .status(200, "<html>"), Self.pending, Self.tokens)
        let (sleeps, error) = await poll(http)
        #expect(error == nil && sleeps == [5, 10, 20, 40, 80, 160, 160])
    }

    @Test func `at the end of the wait a server that failed last is the reason`() async {
        for (last, code) in [
            (ScriptedHTTPClient.Response.status(500, ""), OAuthError.Code.exchangeFailed(statusCode: 500)),
            (Self.pending, .deviceCodeExpired),
        ] {
            let http = ScriptedHTTPClient([.status(502, "")] + Array(repeating: last, count: 200))
            let (_, error) = await poll(http)
            #expect(error?.code == code)
        }
        let (_, error) = await poll(ScriptedHTTPClient(Array(repeating: .failure(.cannotConnect), count: 20)))
        guard case .networkError(let cause) = error?.code else {
            Issue.record("the failure isn't the reason")
            return
        }
        #expect(cause.code == .cannotConnect)
    }

    @Test func `the codes' expiry ends the wait, with or without the server's word`() async {
        let endless = ScriptedHTTPClient(repeating: Self.pending)
        let (sleeps, error) = await poll(endless, interval: #","interval":90"#)
        #expect(error == OAuthError(.deviceCodeExpired))
        #expect(sleeps == [90, 90, 90, 90, 90, 90, 60] && endless.requests.count == 6)
        let told = await poll(ScriptedHTTPClient(.status(400, #"{"error":"expired_token"}"#), Self.tokens))
        #expect(told.error == OAuthError(.deviceCodeExpired, serverError: .expiredToken))
        let impatient = await poll(ScriptedHTTPClient(repeating: Self.pending), timeout: .seconds(12))
        #expect(impatient.error == OAuthError(.deviceCodeExpired) && impatient.sleeps == [5, 5, 2])
    }

    @Test func `a person's refusal ends the wait, and so does every other error`() async {
        let denied = await poll(ScriptedHTTPClient(.status(400, #"{"error":"access_denied"}"#), Self.tokens))
        #expect(denied.error == OAuthError(.accessDenied, serverError: .accessDenied))
        let refused = await poll(ScriptedHTTPClient(.status(401, #"{"error":"invalid_client"}"#), Self.tokens))
        #expect(refused.error == OAuthError(.exchangeFailed(statusCode: 401), serverError: .invalidClient))
        let certificate = await poll(ScriptedHTTPClient(.failure(.certificateRefused), Self.tokens))
        guard case .networkError(let cause) = certificate.error?.code else {
            Issue.record("a refused certificate is not told")
            return
        }
        #expect(cause.code == .certificateRefused)
    }

    @Test func `cancelling ends the wait at once, with a distinct error`() async {
        let http = ScriptedHTTPClient(repeating: Self.pending)
        let task = Task {
            // On the test's clock all waits are over at once.
            while !Task.isCancelled { await Task.yield() }
            return await poll(http)
        }
        task.cancel()
        let (_, error) = await task.value
        guard case .networkError(let cause) = error?.code else {
            Issue.record("cancelling is not told")
            return
        }
        #expect(cause.code == .cancelled)
    }
}
