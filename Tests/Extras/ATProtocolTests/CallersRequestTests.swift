import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Testing
import TestSecrets
import TestServices

@testable import LatchkeyATProtocol

/// Requests that an HTTP client of the caller's own sends, and what is said and logged on the way.
struct CallersRequestTests {
    private func fields(_ request: borrowing GuardedRequest) -> (authorization: String, proof: String) {
        var (authorization, proof) = (CallersOwnHTTPClientFieldSink(), CallersOwnHTTPClientFieldSink())
        switch request.authorization {
        case .some(let value): value.pour(into: &authorization)
        case .none: break
        }
        switch request.proof {
        case .some(let value): value.pour(into: &proof)
        case .none: break
        }
        return (authorization.unprotectedFieldValue, proof.unprotectedFieldValue)
    }

    @Test func `a sink shows its value to no mirror`() {
        var sink = CallersOwnHTTPClientFieldSink()
        Secret<AccessToken>.test("token-of-the-sink").pour(into: &sink)
        var dumped = ""
        dump(sink, to: &dumped)
        #expect(![dumped, "\(sink)", String(reflecting: sink)].contains { $0.contains("token-of") })
        #expect(sink.unprotectedFieldValue == "token-of-the-sink")
    }

    @Test func `a request of the caller's own client carries the token and a proof for it alone`() async throws {
        let scene = try NetworkScene()
        try await scene.signIn()
        let url = scene.network.sessionEndpoint
        var statuses: [String] = []
        for _ in 0..<2 {
            let signed = try await scene.client.authenticateResourceRequest(GuardedRequest(.get, HTTPURL(url + "?a=b")))
            let (authorization, proof) = fields(signed)
            #expect(authorization.hasPrefix("DPoP ") && proof.split(separator: ".").count == 3)
            let run = try await Program("curl").run([
                "--silent", "--noproxy", "*", "--header", "Authorization: \(authorization)", "--header",
                "DPoP: \(proof)", "--dump-header", "-", "--output", "/dev/null", url + "?a=b",
            ])
            let lines = run.outputText.split(separator: "\r\n").map(String.init)
            statuses.append(String(lines[0].split(separator: " ")[1]))
            let nonce = lines.first { $0.lowercased().hasPrefix("dpop-nonce:") }?.split(separator: " ").last
            let field = try #require(HeaderField("DPoP-Nonce", String(nonce ?? "")))
            try await scene.client.learn(from: [field], ofResponseAt: HTTPURL(url))
        }
        #expect(statuses == ["401", "200"])
        // Nothing is signed for anybody else.
        let foreign = try HTTPURL("https://api.test/xrpc/x")
        await #expect(throws: ATProtocolError(.otherServer)) {
            _ = try await scene.client.authenticateResourceRequest(GuardedRequest(.get, foreign))
        }
    }

    @Test func `neither trace logs nor errors contain a secret`() async throws {
        let scene = try NetworkScene(redirect: "http://127.0.0.1:\(try LoopbackPort.free())/callback")
        let response = try await scene.response(to: scene.client.beginAuthorization(handle: "alice.test"))
        try await scene.client.resumeAuthorization(with: response)
        #expect(try await scene.request() == 200)
        scene.network.authorizationServer.expireAccessTokens()
        #expect(try await scene.request() == 200)
        scene.network.authorizationServer.switchOn(.unendingDPoPNonces)
        #expect(try await scene.request() == 401)
        scene.network.authorizationServer.switchOffAllFaults()
        await scene.client.signOut()
        // Not a wrong state: the browser's listener would go on waiting for the right one, up to its deadline.
        for fault in [AuthorizationServerFault.denied, .wrongIssuer, .wrongSubject, .status(400, .token)] {
            scene.network.authorizationServer.switchOn(fault)
            #expect(await scene.failure() != nil)
            scene.network.authorizationServer.switchOff(fault)
        }
        #expect(try scene.findings() == [])
        // And the audit would have found something.
        let token = Secret<AccessToken>.test("a-token-that-is-said-aloud-0123456789")
        try scene.audit.plant(token)
        scene.audit.capture("log: a-token-that-is-said-aloud-0123456789", as: "log")
        #expect(try !scene.findings().isEmpty)
    }

    @Test func `each error's text consists of our words`() {
        var codes: [ATProtocolError.Code] = [
            .invalidHandle, .invalidDID, .handleNotFound, .handleAmbiguous, .handleMismatch, .didNotFound,
            .addressRefused, .invalidRedirectURI, .authorizationInProgress, .noAuthorizationPending,
            .authorizationExpired, .authorizationCancelled, .presenterFailed, .subjectMismatch, .scopeMissing, .keyLost,
            .otherServer, .refused(statusCode: 500), .signIn(SignInError(.notSignedIn)), .cancelled,
        ]
        codes += ATProtocolError.DocumentProblem.allCases.map { .invalidDocument($0) }
        codes += ATProtocolError.ResourceProblem.allCases.map { .invalidResourceMetadata($0) }
        codes += ATProtocolError.Requirement.allCases.map { .requirementMissing($0) }
        codes += ATProtocolError.ClientProblem.allCases.map { .invalidClientMetadata($0) }
        let texts = codes.map { "\(ATProtocolError($0))" }
        #expect(Set(texts).count == codes.count)
        #expect(texts.allSatisfy { $0.hasSuffix("]") && $0.utf8.count < 200 && !$0.contains("Optional") })
        for code in codes {
            let error = ATProtocolError(code)
            #expect("\(error)" == String(reflecting: error))
        }
    }
}
