import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import Testing

@Suite struct OAuthErrorTests {
    private static let all: [OAuthError] = {
        let network = TransportError(
            .cannotConnect, origin: LoggableText(reviewed: "a test's own", unredacted: "https://id.example"), number: 7)
        var codes: [OAuthError.Code] = [
            .userCancelled, .accessDenied, .stateMismatch, .issuerMismatch, .authorizationFailed,
            .exchangeFailed(statusCode: 400), .sessionEnded, .revocationFailed(statusCode: 503),
            .discoveryFailed(statusCode: 500), .networkError(network), .noRandomOctets(number: 38),
        ]
        codes += OAuthError.Malformation.allCases.map { .invalidResponse($0) }
        codes += OAuthError.MetadataProblem.allCases.map { .invalidMetadata($0) }
        codes += OAuthError.ConfigurationProblem.allCases.map { .invalidConfiguration($0) }
        return codes.map { OAuthError($0) }
    }()

    @Test func `each error has a separate text`() {
        let texts = Self.all.map(\.cause.text)
        #expect(Set(texts).count == texts.count)
        #expect(texts.allSatisfy { $0.count > 10 && !$0.hasSuffix(".") })
        #expect(Self.all.allSatisfy { !$0.codeName.description.isEmpty })
    }

    @Test func `a printed error shows only its cause and code`() {
        let error = OAuthError(.exchangeFailed(statusCode: 400), serverError: .invalidGrant)
        let expected = "the server refused the token request (status 400) (invalid_grant) [oauth.exchange-failed]"
        #expect("\(error)" == expected)
        #expect(String(reflecting: error) == expected)
    }

    @Test(arguments: ["canary-canary", "invalid_grant canary", "<script>", "\u{1B}[2J", "other error"])
    func `a server's own words are never shown`(text: String) async throws {
        let log = MemoryLogSink()
        let escaped = text.unicodeScalars.map {
            $0.value < 0x20 ? "\\u00\($0.value < 16 ? "0" : "")\(String($0.value, radix: 16))" : String($0)
        }.joined()
        let http = ScriptedHTTPClient(
            .status(400, #"{"error":"\#(escaped)","error_description":"canary-canary","error_uri":"https://canary"}"#))
        let endpoint = TokenEndpoint(
            server: Sample.server(), client: Sample.client(), http: http,
            log: RedactedLogger("latchkey.test", minimumLevel: .trace, sink: log))
        let error = await failure { () async throws(OAuthError) in
            try await endpoint.exchange(try Sample.callback(), authentication: .none)
        }
        #expect(error == OAuthError(.exchangeFailed(statusCode: 400), serverError: .other))
        let shown = ["\(error!)", error!.hint?.text ?? ""] + log.records.map(\.message.text)
        #expect(!log.records.isEmpty)
        #expect(shown.allSatisfy { !$0.contains("canary") && !$0.contains("script") && !$0.contains("\u{1B}") })
    }

    @Test func `the log of a sign-in holds no secret of it`() async throws {
        let log = MemoryLogSink()
        let logger = RedactedLogger("latchkey.test", minimumLevel: .trace, sink: log)
        let pending = Sample.pending()
        let state = try Sample.parameter("state", of: pending)
        let http = ScriptedHTTPClient(
            .status(401, #"{"error":"invalid_client"}"#),
            .json(#"{"access_token":"canary-access","refresh_token":"canary-refresh","token_type":"bearer"}"#),
            .failure(.timedOut))
        let endpoint = TokenEndpoint(server: Sample.server(), client: Sample.client(), http: http, log: logger)
        let callback = try pending.validate(try Sample.response("code=canary-code&state=\(state)"))
        let tokens = try await endpoint.exchange(callback, authentication: .secretBasic(Secret("canary&secret")))
        let refreshToken = tokens.refreshToken!.duplicate()
        _ = await failure { () async throws(OAuthError) in
            try await endpoint.refresh(refreshToken, authentication: .none)
        }
        let verifier = try #require(field("code_verifier", of: http.requests[0].body))
        let texts = log.records.map(\.message.text)
        #expect(texts.count == 4)
        for secret in ["canary", state, verifier] {
            #expect(texts.allSatisfy { !$0.contains(secret) })
        }
    }

    @Test func `only temporary errors count as transient`() {
        let transient = Self.all.filter(\.isTransient).map(\.codeName.description)
        #expect(transient == ["oauth.revocation-failed", "oauth.discovery-failed", "http.cannot-connect"])
        for error in [
            OAuthError(.exchangeFailed(statusCode: 408)), OAuthError(.exchangeFailed(statusCode: 429)),
            OAuthError(.exchangeFailed(statusCode: 400), serverError: .temporarilyUnavailable),
            OAuthError(.exchangeFailed(statusCode: 400), serverError: .serverError),
        ] {
            #expect(error.isTransient && error.explanation.kind == .tryAgain && error.hint == "try again later")
        }
        for status in [400, 401, 403, 404, 418] {
            #expect(OAuthError(.exchangeFailed(statusCode: status), serverError: .other).hint != nil)
        }
    }
}
