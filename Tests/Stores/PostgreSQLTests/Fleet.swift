import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// Two hosts with one vault in a database, and a person who is signed in there. A host is a home, state and a key slot
/// of its own.
final class Fleet: Sendable {
    let vault: DatabaseVault
    let server: LoopbackAuthorizationServer
    let hosts: [Host]

    struct Host: Sendable {
        let directory: TestDirectory
        let environment: [String: String]

        init(vault uri: String) throws {
            directory = try TestDirectory()
            var environment = try directory.environment()
            environment["LATCHKEY_VAULT"] = uri
            environment["LATCHKEY_KEY_FILE"] = directory / "key"
            environment["BROWSER"] = try directory.write(
                "browser",
                "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700)
            self.environment = environment
        }

        @discardableResult
        func run(_ arguments: String..., input: String = "") async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
        }

        func start(_ arguments: [String]) throws -> RunningProgram {
            let program = try BuiltProducts.latchkey().start(arguments, environment: environment)
            program.closeInput()
            return program
        }
    }

    /// - Parameter uri: for another way to the same vault.
    init(on database: PostgreSQLServer? = nil, through uri: ((DatabaseVault) -> String)? = nil) async throws {
        var vault = try await DatabaseVault(on: database)
        if let uri { vault.uri = uri(vault) }
        self.vault = vault
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration())
        hosts = [try Host(vault: vault.uri), try Host(vault: vault.uri)]
        let (first, second) = (hosts[0], hosts[1])
        try await first.run("vault", "init", "--key-file", first.directory / "key").successful("vault init")
        // The second host's key never leaves it: the first one opens the vault with a copy for a moment.
        try FileManager.default.copyItem(atPath: first.directory / "key", toPath: second.directory / "first")
        try await Program("env").run(
            [
                "LATCHKEY_KEY_FILE=" + second.directory / "first", try BuiltProducts.latchkey().path, "vault",
                "add-slot",
                "second", "--key-file", second.directory / "key",
            ], environment: second.environment
        ).successful("vault add-slot")
        for host in hosts {
            try await host.run(
                "provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey", "--scope", "read"
            ).successful("provider add")
        }
        try await first.run("sign-in", "work").successful("sign-in")
    }

    /// Starts a request with the session's token, on one host after the other.
    func ask(_ count: Int) throws -> [RunningProgram] {
        try (0..<count).map { number in
            try hosts[number % 2].start(["request", "work", "GET", server.userInfoEndpoint, "--timeout", "120"])
        }
    }

    func expectAnswers(of programs: [RunningProgram], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for program in programs {
            let run = try await program.finish()
            #expect(
                run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)",
                sourceLocation: sourceLocation
            )
        }
    }

    /// Who was killed with the lease in hand doesn't give it back: its time has to pass.
    func passLeaseTime() async throws { try await vault.sql("UPDATE %.leases SET until = now() - interval '1 s'") }

    func count(_ endpoint: AuthorizationServerEndpoint) -> Int { server.record.requests[endpoint] ?? 0 }
}
