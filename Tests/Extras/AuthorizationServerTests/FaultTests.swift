import LatchkeyHTTP
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing

/// Each fault does what it says, and the server is sound again once it is off.
struct FaultTests {
    private let server: LoopbackAuthorizationServer
    private let client: TestClient

    init() throws {
        server = try LoopbackAuthorizationServer()
        client = TestClient(server)
    }

    // MARK: - In the redirect

    @Test func `each of the redirect's faults changes its own parameter`() async throws {
        func redirect(_ fault: AuthorizationServerFault) async throws -> TestClient.Response {
            server.switchOn(fault)
            defer { server.switchOff(fault) }
            return try await client.authorize()
        }
        #expect(try await redirect(.wrongState).redirect["state"] == "not-the-state-that-was-sent")
        #expect(try await redirect(.missingState).redirect["state"] == nil)
        #expect(try await redirect(.wrongIssuer).redirect["iss"] == "https://attacker.example")
        #expect(try await redirect(.missingIssuer).redirect["iss"] == nil)
        #expect(try await redirect(.denied).redirect["error"] == "access_denied")
        let repeated = try await redirect(.repeatedParameters)
        #expect(repeated.location?.split(separator: "state=").count == 3)
        let sound = try await client.authorize()
        #expect(sound.redirect["state"] == "st ate&1")
        #expect(sound.redirect["iss"] == server.issuer)
    }

    // MARK: - In responses

    @Test func `after a fault of the token endpoint the code is still valid`() async throws {
        let code = try await client.authorize().code
        for (fault, status) in [
            (AuthorizationServerFault.errorWithStatus200(.token), 200), (.status(400, .token), 400),
            (.status(500, .token), 500), (.temporaryRedirect(.token), 307),
        ] {
            server.switchOn(fault)
            let response = try await client.exchange(code: code)
            #expect(response.status == status)
            #expect(response.json["access_token"] == nil)
            server.switchOff(fault)
        }
        #expect(try await client.exchange(code: code).status == 200)
        #expect(server.record.requests[.token] == 5)
    }

    @Test func `a 307 points to an address where credentials are noticed`() async throws {
        server.switchOn(.temporaryRedirect(.token))
        let response = try await client.exchange(code: "c")
        #expect(!server.record.strayCredentials)
        _ = try await client.post(try #require(response.location), ["code": "c"])
        #expect(server.record.strayCredentials)
        #expect(server.record.requests[.stray] == 1)
    }

    @Test func `half of the JSON comes as well-formed HTTP`() async throws {
        let code = try await client.authorize().code
        server.switchOn(.truncatedJSON(.token))
        let response = try await client.exchange(code: code)
        #expect(response.status == 200)
        #expect(response.text.hasPrefix("{\"access_token\":"))
        #expect(response.json.isEmpty)
    }

    @Test(arguments: [AuthorizationServerFault.cutConnection(.token), .noResponse(.token)])
    func `a broken connection is a lost connection`(fault: AuthorizationServerFault) async throws {
        let code = try await client.authorize().code
        server.switchOn(fault)
        let error = await #expect(throws: TransportError.self) { _ = try await client.exchange(code: code) }
        #expect(error?.code == .connectionLost)
    }

    @Test func `a huge body exceeds the limit`() async throws {
        server.switchOn(.hugeBody(byteCount: 1 << 24, .token))
        let error = await #expect(throws: TransportError.self) { _ = try await client.exchange(code: "c") }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func `a slow response is a timeout for an impatient client`() async throws {
        server.switchOn(.slow(.seconds(3600), .metadata))
        let url = try HTTPURL(server.origin + "/.well-known/oauth-authorization-server")
        let error = await #expect(throws: TransportError.self) {
            _ = try await client.http.send(
                GuardedRequest(.get, url), limits: TransferLimits(timeout: .milliseconds(50)))
        }
        #expect(error?.code == .timedOut)
    }

    @Test func `a held response comes when the test releases it`() async throws {
        let code = try await client.authorize().code
        server.switchOn(.held(.token))
        async let response = client.exchange(code: code)
        while server.record.requests[.token] == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(server.record.codesExchanged == 0)
        server.switchOff(.held(.token))
        #expect(try await response.status == 200)
        #expect(server.record.codesExchanged == 1)
    }

    @Test func `token responses can lack their token or have an unknown type`() async throws {
        server.switchOn(.unknownTokenType)
        #expect(try await client.signIn().json["token_type"] == "mystery")
        server.switchOn(.missingAccessToken)
        #expect(try await client.signIn().json["access_token"] == nil)
        server.switchOffAllFaults()
        #expect(try await client.signIn().json["token_type"] == "Bearer")
    }

    @Test func `metadata can name another issuer or lack S256`() async throws {
        server.switchOn(.metadataNamesAnotherIssuer)
        server.switchOn(.metadataWithoutS256)
        let metadata = try await client.get(server.origin + "/.well-known/openid-configuration")
        #expect(metadata.json["issuer"] == "https://attacker.example")
        #expect(!metadata.text.contains("\"S256\""))
    }

    // MARK: - For audits

    @Test func `the server lends every secret of a sign-in to audits, by name`() async throws {
        let tokens = try await client.signIn()
        let names = Mutex<Set<String>>([])
        let isThere = Mutex(false)
        let expected = client.secret(tokens.json["access_token"]!)
        server.withEachSecret { name, secret in
            names.withLock { _ = $0.insert(name) }
            if secret.matches(expected) { isThere.withLock { $0 = true } }
        }
        #expect(names.withLock { $0 } == ["state", "code", "code_verifier", "access_token", "refresh_token"])
        #expect(isThere.withLock { $0 })
    }

    @Test func `the server's record contains no secret`() async throws {
        let tokens = try await client.signIn()
        let text = "\(server.record)"
        for secret in [tokens.json["access_token"]!, tokens.json["refresh_token"]!, TestClient.verifier, "st ate&1"] {
            #expect(!text.contains(secret))
        }
    }
}
