internal import Foundation
internal import Testing
internal import TestServices

/// Tokens for machines, without a person: by the client's secret, or by what a CI job or a cluster hands to a workload.
@Suite struct MachineTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
    }

    @discardableResult
    private func run(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
    }

    private static let byFile = ["jwt-bearer", "token-exchange"]

    @Test(arguments: ["client_secret_basic", "client_secret_post"])
    func `a client's secret gets one token for all that ask, and another at its end`(method: String) async throws {
        let server = try await StrictServer(
            #"{"methods": ["\#(method)"], "secret": "a secret", "openid": false, "resource": "/api"}"#)
        try await run(
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--client-secret-stdin", "--grant",
            "client-credentials", "--scope", "read", input: "a secret"
        ).successful("provider add")
        let refused = try await run("token", "ci")
        #expect(
            refused.status == 77 && server.events == ["missing: resource in a request to /token client_credentials"])
        let other = try await StrictServer(
            #"{"methods": ["\#(method)"], "secret": "a secret", "openid": false}"#)
        try await run(
            "provider", "add", "ci", "--issuer", other.issuer, "--client-id", "me", "--client-secret-stdin", "--grant",
            "client-credentials", "--scope", "read", "--force", input: "a secret"
        ).successful("provider add")
        let running = try (0..<24).map { number in
            try BuiltProducts.latchkey().start(
                number % 2 == 0 ? ["token", "ci"] : ["helper", "headers", "ci"], environment: environment)
        }
        var tokens: Set<String> = []
        for program in running {
            let run = try await program.finish().successful("token")
            tokens.insert(run.outputText.split(whereSeparator: { " \"{}:".contains($0) }).last.map(String.init) ?? "")
        }
        #expect(tokens.count == 1 && other.events == ["issued tokens"], "\(tokens) \(other.events)")
        let accounts = try await run("accounts").outputText
        #expect(accounts.contains("refreshes itself"), "\(accounts)")
        #expect(try await run("accounts", "--check").status == 0)
        try await other.change(#"{"lifetime": 1}"#)
        try await run("sign-out", "ci").successful("sign-out")
        let first = try await run("token", "ci").successful("token").outputText
        // Its one second has passed then, however fast the machine is.
        try await Task.sleep(for: .seconds(2))
        #expect(try await run("token", "ci").successful("token").outputText != first)
        let signIn = try await run("sign-in", "ci")
        #expect(signIn.status == 64 && signIn.errorText.contains("run `latchkey token ci`"), "\(signIn.errorText)")
    }

    @Test(arguments: byFile)
    func `what a cluster hands out is read anew each time, through the link that clusters have`(
        grant: String
    ) async throws {
        let server = try await StrictServer(#"{"openid": false, "handed": "a.b.c"}"#)
        try directory.makeFolder("data")
        try directory.write("data/token", "a.b.c\n")
        try FileManager.default.createSymbolicLink(
            atPath: directory / "token", withDestinationPath: directory / "data/token")
        try await run(
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--grant", grant,
            "--assertion-file", directory / "token", "--scope", "read"
        ).successful("provider add")
        let first = try await run("token", "ci").successful("token").outputText
        #expect(try await run("token", "ci").outputText == first && server.events == ["issued tokens"])
        try await run("sign-out", "ci").successful("sign-out")
        try await server.change(#"{"handed": "d.e.f"}"#)
        let stale = try await run("token", "ci")
        #expect(stale.status == 77 && stale.output.isEmpty, "\(stale.errorText)")
        try directory.write("data/token", "d.e.f")
        #expect(try await run("token", "ci").successful("token").outputText != first)
        // The store has what the server gave, and not what the cluster handed out.
        let listed = try await run("list", "--all").outputText
        #expect(listed.contains("session") && !listed.contains("secret"), "\(listed)")
        let found = try await Program("grep").run(["-rlF", "a.b.c", directory.path])
        #expect(found.status == 1 && found.output.isEmpty, "\(found.outputText)")
    }

    @Test(arguments: ["missing", "fifo", "folder", "huge", "empty", "two words"])
    func `a file that is no assertion is told, and nothing is sent`(kind: String) async throws {
        let server = try await StrictServer(#"{"openid": false}"#)
        let path = directory / "token"
        switch kind {
        case "fifo": try await Program("mkfifo").run([path]).successful("mkfifo")
        case "folder": try directory.makeFolder("token")
        case "huge": try directory.write("token", String(repeating: "a", count: 10 << 20))
        case "empty": try directory.write("token", "\n")
        case "two words": try directory.write("token", "a b")
        default: break
        }
        try await run(
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--grant", "jwt-bearer",
            "--assertion-file", path
        ).successful("provider add")
        let run = try await run("token", "ci")
        #expect(run.status == 78 && run.errorText.contains("hint: check the path"), "\(run.errorText)")
        #expect(server.events.isEmpty)
    }

    @Test(arguments: [
        ["--grant", "jwt-bearer"], ["--grant", "client-credentials", "--assertion-file", "/x"],
        ["--assertion-file", "/x"], ["--grant", "password"], ["--grant", "client-credentials", "--dpop"],
    ])
    func `options that don't go together are refused`(options: [String]) async throws {
        let run = try await BuiltProducts.latchkey().run(
            ["provider", "add", "ci", "--issuer", "http://127.0.0.1:9", "--client-id", "me"] + options,
            environment: environment)
        #expect(run.status == 64 && run.errorText.contains("hint:"), "\(run.errorText)")
    }
}
