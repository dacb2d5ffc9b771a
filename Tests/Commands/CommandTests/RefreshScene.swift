import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// A person who is signed in at a server, or has yet to be, with a vault.
final class RefreshScene: Sendable {
    let directory: TestDirectory
    let server: LoopbackAuthorizationServer
    let environment: [String: String]

    var vault: String { directory / "data/latchkey/vault" }

    init(
        scopes: [String] = ["read"], signsIn: Bool = true,
        configuration: AuthorizationServerConfiguration = AuthorizationServerConfiguration()
    ) async throws {
        directory = try TestDirectory()
        server = try LoopbackAuthorizationServer(configuration)
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write(
            "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700
        )
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
        try await BuiltProducts.latchkey().run(
            ["provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey"]
                + scopes.flatMap { ["--scope", $0] }, environment: environment
        ).successful("provider add")
        if signsIn { try await run("sign-in", "work").successful("sign-in") }
    }

    func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    var request: [String] { ["request", "work", "GET", server.userInfoEndpoint, "--timeout", "120"] }

    /// Starts a request with the session's token.
    func start(_ environment: [String: String]) throws -> RunningProgram {
        let program = try BuiltProducts.latchkey().start(request, environment: environment)
        program.closeInput()
        return program
    }

    /// Starts it under a limit of the shell's: `-n 16`. What it says goes through a pipe, which has no limit.
    func start(limit: String, _ environment: [String: String]? = nil) throws -> RunningProgram {
        let words = [try BuiltProducts.latchkey().path] + request
        let program = try Program("bash").start(
            [
                "-c", "(ulimit \(limit); exec env --default-signal=XFSZ \"$@\") 2>&1 | cat >&2; exit ${PIPESTATUS[0]}",
                "bash",
            ] + words, environment: environment ?? self.environment)
        program.closeInput()
        return program
    }

    /// Whoever is signed in still is, after one refresh, which may have been made already.
    func expectSession(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let run = try await start(environment).finish()
        #expect(
            run.status == 0 && run.outputText.contains("octocat"), "\(what): \(run.errorText)",
            sourceLocation: sourceLocation)
        #expect(server.record.replays == 0, "\(what)", sourceLocation: sourceLocation)
    }
}
