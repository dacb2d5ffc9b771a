import Foundation
import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeySecrets
import Testing
import TestServices

/// HTTPS with certificates of our own, good and bad.
struct CertificateTests {
    private let directory: TestDirectory
    private let authority: CertificateAuthority

    init() async throws {
        directory = try TestDirectory()
        authority = try await CertificateAuthority(in: directory)
    }

    private func server(chain: String, key: String) throws -> LoopbackServer {
        let certificate = try String(contentsOfFile: chain, encoding: .utf8)
        let keyBytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: key)))
        let tls = LoopbackTLS(certificatePEM: certificate, key: Secret(copying: keyBytes.span))
        return try LoopbackServer(.init(tls: tls)) { request in
            LoopbackResponse(status: 200, contentType: "text/plain", publicText: "private \(request.path)")
        }
    }

    private func failure(_ url: String, _ trust: CurlTransport.CertificateTrust) async throws -> TransportError? {
        let url = try HTTPURL(url)
        return await #expect(throws: TransportError.self) {
            _ = try await CurlTransport(configuration: .init(trust: trust)).send(GuardedRequest(.get, url))
        }
    }

    /// Makes a certificate that vouches for itself, with these lines of extensions and these days.
    private func selfSigned(_ name: String, _ arguments: [String]) async throws -> (chain: String, key: String) {
        let (chain, key) = (directory / "\(name).pem", directory / "\(name).key")
        try await Program("openssl").run(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=\(name)",
                "-keyout", key, "-out", chain,
            ] + arguments
        ).successful("openssl req")
        return (chain, key)
    }

    @Test func `a server of a private authority is trusted with that authority's file`() async throws {
        let server = try server(chain: authority.serverChain, key: authority.serverKey)
        let client = CurlTransport(configuration: .init(trust: .only(file: authority.certificate)))
        let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin + "/a")))
        #expect(response.text == "private /a")
    }

    @Test func `without the file its issuer is unknown`() async throws {
        let server = try server(chain: authority.serverChain, key: authority.serverKey)
        let error = try await failure(server.origin, .system)
        #expect(error?.code == .certificateRefused)
        #expect(error?.certificateProblem == .untrustedIssuer)
    }

    @Test func `a self-signed certificate is refused, and trusted if it is the file`() async throws {
        let (chain, key) = try await selfSigned("self", ["-addext", "subjectAltName=IP:127.0.0.1"])
        let server = try server(chain: chain, key: key)
        let error = try await failure(server.origin, .only(file: authority.certificate))
        #expect(error?.certificateProblem == .untrustedIssuer)
        let client = CurlTransport(configuration: .init(trust: .only(file: chain)))
        let response = try await client.send(GuardedRequest(.get, HTTPURL(server.origin)))
        #expect(response.status == 200)
    }

    @Test func `a certificate for another host has a distinct error`() async throws {
        let (chain, key) = try await selfSigned("other", ["-addext", "subjectAltName=DNS:elsewhere.example"])
        let server = try server(chain: chain, key: key)
        let error = try await failure(server.origin, .only(file: chain))
        #expect(error?.code == .certificateRefused)
        #expect(error?.certificateProblem == .wrongHost)
    }

    @Test func `an expired certificate has a distinct error`() async throws {
        // openssl req knows no dates in the past; `x509 -days -1` does.
        let (chain, key) = try await selfSigned("old", ["-addext", "subjectAltName=IP:127.0.0.1"])
        let old = directory / "expired.pem"
        try await Program("openssl").run(
            ["x509", "-in", chain, "-signkey", key, "-days", "-1", "-out", old]
        ).successful("openssl x509")
        let server = try server(chain: old, key: key)
        let error = try await failure(server.origin, .only(file: old))
        #expect(error?.code == .certificateRefused)
        #expect(error?.certificateProblem == .expired)
    }

    @Test func `a missing file of authorities has a distinct error, and makes no server trusted`() async throws {
        let server = try server(chain: authority.serverChain, key: authority.serverKey)
        #expect(
            try await failure(server.origin, .only(file: directory / "missing.pem"))?.code
                == .certificateAuthoritiesUnreadable)
        let empty = try directory.write("empty.pem", "")
        #expect(
            try await failure(server.origin, .only(file: empty))?.code == .certificateAuthoritiesUnreadable)
    }

    @Test func `a server with only TLS 1_1 is refused`() async throws {
        let server = try await OpenSSLServer(authority, arguments: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        let error = try await failure(server.origin, .only(file: authority.certificate))
        #expect(error?.code == .handshakeFailed)
        await server.stop()
    }
}
