import Foundation
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

    @Test func `the address and the code stand on standard error, and the sign-in waits for the person`() async throws {
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

    @Test func `without consent to show anything it is refused`() async throws {
        let directory = try TestDirectory()
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(offersDeviceGrant: true))
        let run = try await BuiltProducts.latchkey().run(
            ["sign-in", "work", "--device", "--no-prompt"], environment: try await environment(directory, server))
        #expect(run.status == 77 && run.errorText.contains("[sign-in.device-forbidden]"))
    }
}
