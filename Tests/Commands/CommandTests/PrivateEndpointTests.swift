internal import Foundation
internal import Testing
internal import TestServices

/// An issuer on the internet that names endpoints on this machine, or on a private network: `jwks_uri`, user
/// information and the others were asked wherever they were. An issuer that is on such a network itself goes on as
/// before. The servers are a program that knows nothing of ours.
@Suite struct PrivateEndpointTests {
    private let directory: TestDirectory
    private let authority: CertificateAuthority
    private let environment: [String: String]

    private struct Servers: Decodable {
        let issuer: String
        let inner: String
        let proxy: String
    }

    init() async throws {
        directory = try TestDirectory()
        authority = try await CertificateAuthority(in: directory)
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        self.environment = environment
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", directory / "key"], environment: environment
        ).successful("vault init")
    }

    private static let endpoints = [
        "registration_endpoint", "pushed_authorization_request_endpoint", "device_authorization_endpoint",
        "token_endpoint", "jwks_uri", "userinfo_endpoint",
    ]

    /// Starts the servers, adds the issuer and signs in: what was printed, and the last run.
    private func signIn(at endpoint: String, isPublic: Bool) async throws -> (asked: String, run: ProgramRun) {
        let script = TestData.folder().appendingPathComponent("private_endpoint.py").path
        let running = try Program("python3").start([script, authority.serverChain, authority.serverKey, endpoint])
        try await running.wait(for: "its addresses") { running.outputSoFar.contains("\n") }
        let line = running.outputSoFar.prefix { $0 != "\n" }
        let servers = try JSONDecoder().decode(Servers.self, from: Data(line.utf8))
        var environment = environment
        if isPublic { environment["https_proxy"] = servers.proxy }
        environment["no_proxy"] = "127.0.0.1"
        environment["BROWSER"] = try directory.write(
            "browser",
            "#!/bin/sh\ncurl --silent --location --cacert \(authority.certificate) --output /dev/null \"$1\"\n",
            mode: 0o700)
        let latchkey = try BuiltProducts.latchkey()
        var run = try await latchkey.run(
            [
                "provider", "add", "work", "--issuer", isPublic ? "https://issuer.example" : servers.issuer, "--scope",
                endpoint == "jwks_uri" ? "openid" : "read", "--ca-file", authority.certificate,
            ] + (endpoint == "registration_endpoint" ? ["--register"] : ["--client-id", "me"]), environment: environment
        )
        if endpoint != "registration_endpoint" {
            try run.successful("provider add")
            let terminal = try PseudoTerminal()
            let way = endpoint.hasPrefix("device") ? "--device" : "--browser"
            run = try await latchkey.start(
                // Nobody types a name for the account.
                ["sign-in", "work", "--timeout", "60", way] + (way == "--browser" ? ["--no-prompt"] : []),
                environment: environment, terminal: terminal
            ).finish()
        }
        return (String(running.outputSoFar.dropFirst(line.utf8.count + 1)), run)
    }

    @Test(arguments: endpoints)
    func `an issuer on the internet leads no request to this machine`(endpoint: String) async throws {
        let (asked, run) = try await signIn(at: endpoint, isPublic: true)
        #expect(asked.isEmpty, "\(asked)")
        #expect(run.status == 77, "\(run.errorText)")
        #expect(run.errorText.contains("[http.address-refused]"))
    }

    @Test(arguments: endpoints)
    func `an issuer on a private network has its endpoints there`(endpoint: String) async throws {
        let (asked, run) = try await signIn(at: endpoint, isPublic: false)
        #expect(asked.hasPrefix("inner: was asked for /"), "\(asked)\(run.errorText)")
        // It refuses each request; a name alone isn't worth a sign-in.
        #expect((run.status == 0) == (endpoint == "userinfo_endpoint"))
    }
}
