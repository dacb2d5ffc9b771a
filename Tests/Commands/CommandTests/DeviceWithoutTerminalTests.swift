import Foundation
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestServices

/// `sign-in --device` where there is no terminal: what a person has to know stands on standard error.
@Suite struct DeviceWithoutTerminalTests {
    private func environment(_ directory: TestDirectory, _ server: LoopbackAuthorizationServer) async throws
        -> [String: String]
    {
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("vault init")
        try await latchkey.run(
            ["provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey", "--scope", "read"],
            environment: environment
        ).successful("provider add")
        return environment
    }

    @Test func `the address and the code appear on standard error, and the sign-in waits for the person`() async throws
    {
        let directory = try TestDirectory()
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(offersDeviceGrant: true))
        let environment = try await environment(directory, server)
        let running = try BuiltProducts.latchkey().start(["sign-in", "work", "--device"], environment: environment)
        running.closeInput()
        try await running.wait(for: "the wait") { running.errorsSoFar.contains("waiting up to") }
        let said = try #require(
            running.errorsSoFar.firstMatch(
                of:
                    /latchkey: on any device, open (\S+) and enter the code in the next line\n([A-Z0-9-]+)\nlatchkey: waiting up to 10 minutes/
            ),
            "\(running.errorsSoFar)")
        try await Program("curl").run([
            "--silent", "--fail", "--noproxy", "*", "--output", "/dev/null",
            "\(said.output.1)?user_code=\(said.output.2)",
        ]).successful("the other device")
        let run = try await running.finish()
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.errorText.hasSuffix("latchkey: signed in at work as octocat\n"))
        #expect(run.output.isEmpty)
    }

    /// GitHub wants the client's secret with a browser's code, and none with a device's.
    @Test func `at GitHub a client without a secret gets a device code`() async throws {
        let directory = try TestDirectory()
        let authority = try await CertificateAuthority(in: directory)
        let key = Array(try Data(contentsOf: URL(fileURLWithPath: authority.serverKey)))
        let server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(
                offersDeviceGrant: true,
                tls: AuthorizationServerConfiguration.TLS(
                    certificatePEM: try String(contentsOfFile: authority.serverChain, encoding: .utf8),
                    key: Secret(copying: key.span))))
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        // A browser is there, and would be the choice elsewhere.
        environment["BROWSER"] = try directory.write("browser", "#!/bin/sh\necho >> browsed\n", mode: 0o700)
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("vault init")
        let running = try latchkey.start(
            ["sign-in", "github", "--client-id", "latchkey", "--host", String(server.issuer.dropFirst(8))]
                + ["--ca-file", authority.certificate], environment: environment)
        running.closeInput()
        try await running.wait(for: "the wait") { running.errorsSoFar.contains("waiting up to") }
        let said = running.errorsSoFar
        #expect(said.contains("the service wants the client's secret for any other method"), "\(said)")
        let code = try #require(said.firstMatch(of: /open (\S+) and enter the code in the next line\n([A-Z0-9-]+)\n/))
        try await Program("curl").run([
            "--silent", "--fail", "--noproxy", "*", "--output", "/dev/null", "--cacert", authority.certificate,
            "\(code.output.1)?user_code=\(code.output.2)",
        ]).successful("the other device")
        let run = try await running.finish()
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.errorText.hasSuffix("latchkey: signed in at github as octocat\n"))
        #expect(server.record.codesExchanged == 0)
        #expect(!FileManager.default.fileExists(atPath: directory / "browsed"))
    }

    @Test func `without permission to show anything a device sign-in is refused`() async throws {
        let directory = try TestDirectory()
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(offersDeviceGrant: true))
        let run = try await BuiltProducts.latchkey().run(
            ["sign-in", "work", "--device", "--no-prompt"], environment: try await environment(directory, server))
        #expect(run.status == 77 && run.errorText.contains("[sign-in.device-forbidden]"))
    }
}
