import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeySecrets
import Synchronization
import Testing
import TestServices

/// What is left in memory when a request is over.
struct ResidueTests {
    @Test func `token, body and response of an HTTPS request leave no copy in memory`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let authority = try await CertificateAuthority(in: directory)
            try await Program("sh").run(
                ["-c", "{ printf 'HTTP/1.0 200 OK\\r\\n\\r\\n'; openssl rand -hex 48; } > answer"],
                folder: directory.path
            ).successful("making a response")
            let server = try await OpenSSLServer(authority, mode: "-HTTP", folder: directory.path)
            let token = try ResidueTests.secret(prefix: "Bearer ")
            let body = try ResidueTests.secret(prefix: "refresh_token=")
            let tokenMask = ResidueTests.mask(token)
            let bodyMask = ResidueTests.mask(body)
            // The search finds what is there, or finding nothing would mean nothing.
            #expect(!OwnMemory.places(ofMasked: tokenMask).isEmpty)
            let url = try HTTPURL(server.origin + "/answer")
            let request = GuardedRequest(.get, url, authorization: token, body: body)
            let responseMask = try await ResidueTests.send(request, trusting: authority.certificate)
            #expect(OwnMemory.places(ofMasked: tokenMask) == [])
            #expect(OwnMemory.places(ofMasked: bodyMask) == [])
            #expect(OwnMemory.places(ofMasked: responseMask) == [])
            await server.stop()
        }
    }

    @Test func `query, body and location leave no copy in a loopback server's memory`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let masks = Mutex<[[UInt8]]>([])
            let server = try LoopbackServer { request in
                let query = request.query?.duplicate() ?? request.body.duplicate()
                masks.withLock { $0 = [ResidueTests.mask(query), ResidueTests.mask(request.body)] }
                return LoopbackResponse(status: 302, location: query, body: request.body.duplicate())
            }
            // The secrets are made and sent by other processes, so that only the server's copies are in this one.
            let script = """
                openssl rand -hex 48 > query; openssl rand -hex 48 > body
                curl -s -o answer -d @body "\(server.origin)/?$(cat query)" && cmp <(tr -d '\\n' < body) answer
                """
            try await Program("bash").run(["-c", script], folder: directory.path).successful("curl")
            server.stop()
            let found = masks.withLock { $0 }
            #expect(found.count == 2)
            for mask in found { #expect(OwnMemory.places(ofMasked: mask) == []) }
        }
    }

    /// Sends with a client that ends with this call; returns what to look for of the response.
    private static func send(_ request: consuming GuardedRequest, trusting file: String) async throws -> [UInt8] {
        let client = CurlTransport(configuration: .init(trust: .only(file: file)))
        let response = try await client.send(request)
        #expect(response.status == 200)
        let mask = mask(response.body)
        #expect(!OwnMemory.places(ofMasked: mask).isEmpty)
        return mask
    }

    private static func secret(prefix: String) throws -> Secret<MessageBody> {
        let random = try Secret<MessageBody>.random(byteCount: 48).base64URLEncoded()
        var builder = SecretBuilder()
        try builder.append(publicText: prefix)
        try builder.append(random)
        return builder.finish(as: MessageBody.self)
    }

    /// 16 bytes of a secret's middle, masked.
    private static func mask(_ secret: borrowing Secret<MessageBody>) -> [UInt8] {
        secret.withExposedBytes { bytes in (24..<40).map { bytes[$0] ^ 0x55 } }
    }
}
