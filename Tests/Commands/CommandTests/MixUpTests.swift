internal import Foundation
internal import Testing
internal import TestServices

/// A host that a person was talked into, and that sends their browser on to one where they have an account (RFC 9700
/// section 4.4).
///
/// Every provider had one redirect path, and an `iss` was compared only where there was an issuer to compare it with:
/// the honest host's code came back to us, and was posted to the hostile host's token endpoint. The two hosts are a
/// program that knows nothing of ours.
@Suite struct MixUpTests {
    private let directory: TestDirectory
    private let authority: CertificateAuthority
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        authority = try await CertificateAuthority(in: directory)
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write(
            "browser",
            """
            #!/bin/sh
            curl --silent --location --cacert \(authority.certificate) --noproxy '*' --output /dev/null "$1"
            echo >> \(directory / "visits")

            """, mode: 0o700)
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
    }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    private var visits: Int { (try? directory.read("visits").count) ?? 0 }

    private struct Hosts: Decodable {
        let honest: String
        let hostile: String
    }

    /// Starts both hosts, and signs in at the honest one as anybody does.
    private func start(_ play: String) async throws -> (RunningProgram, Hosts) {
        let script = TestData.folder().appendingPathComponent("mix_up.py").path
        let hosts = try Program("python3").start([script, authority.serverChain, authority.serverKey, play])
        try await hosts.wait(for: "its addresses") { hosts.outputSoFar.contains("\n") }
        let line = hosts.outputSoFar.prefix { $0 != "\n" }
        let origins = try JSONDecoder().decode(Hosts.self, from: Data(line.utf8))
        try await run(
            "provider", "add", "home", "--service", "mastodon", "--host", Self.host(origins.honest), "--register",
            "--ca-file", authority.certificate
        ).successful("provider add")
        try await run("sign-in", "home", "--timeout", "60").successful("sign-in")
        try #require(hosts.outputSoFar.hasSuffix("honest: gave a code\nhonest: gave a token\n"))
        return (hosts, origins)
    }

    private static func host(_ origin: String) -> String { String(origin.dropFirst("https://".count)) }

    /// The hostile host's part, once the browser has been everywhere.
    private func signInAtHostileHost(_ origins: Hosts) throws -> RunningProgram {
        try BuiltProducts.latchkey().start(
            ["sign-in", "mastodon", "--host", Self.host(origins.hostile), "--ca-file", authority.certificate],
            environment: environment)
    }

    @Test(arguments: ["forward", "rewrite"])
    func `a code of another host comes to an unused path, and reaches no token endpoint`(
        play: String
    ) async throws {
        let (hosts, origins) = try await start(play)
        let running = try signInAtHostileHost(origins)
        try await hosts.wait(for: "the browser") { visits == 2 }
        // It still waits for the response of the host that it asked.
        running.signal(SIGINT)
        let run = try await running.finish()
        #expect(run.status == 130, "\(run.errorText)")
        #expect(hosts.outputSoFar.contains("hostile: sent the browser on\n"))
        #expect(
            hosts.outputSoFar.hasSuffix(
                play == "forward"
                    ? "honest: refused a redirect URI that nobody registered\n" : "honest: gave a code\n"))
        try await expectOnlyTheHonestSession(hosts)
    }

    @Test func `a code of another host that names itself is refused, even at the right path`() async throws {
        let (hosts, origins) = try await start("named")
        let run = try await signInAtHostileHost(origins).finish()
        #expect(run.status == 76, "\(run.errorText)")
        #expect(run.errorText.contains("[oauth.issuer-mismatch]"))
        #expect(hosts.outputSoFar.hasSuffix("hostile: sent the browser on\nhonest: gave a code\n"))
        try await expectOnlyTheHonestSession(hosts)
    }

    private func expectOnlyTheHonestSession(_ hosts: RunningProgram) async throws {
        #expect(!hosts.outputSoFar.contains("hostile: was given"), "\(hosts.outputSoFar)")
        let accounts = try await run("accounts").successful("accounts").outputText
        #expect(accounts.contains("home") && !accounts.contains("mastodon"), "\(accounts)")
    }
}
