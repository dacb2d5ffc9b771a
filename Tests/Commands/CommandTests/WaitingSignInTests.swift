internal import Foundation
internal import Testing
internal import TestServices

/// A sign-in that waits for the person: the browser it has started, and Control-C, typed at the terminal or sent by
/// another program.
@Suite struct WaitingSignInTests {
    private let directory: TestDirectory
    private let servers: MetadataServer
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        servers = try MetadataServer(certificates: await CertificateAuthority(in: directory))
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write(
            "browser", "#!/bin/sh\n: > \(directory / "seen")\n\(Self.untilRemoved(directory))", mode: 0o700)
        self.environment = environment
        let origin = try #require(servers.environment["SERVER"])
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
        try await run("provider", "add", "work", "--issuer", origin + "/good", "--client-id", "me")
            .successful("provider add")
    }

    /// A browser that stays open, but not for longer than the test.
    private static func untilRemoved(_ directory: TestDirectory) -> String {
        "while [ -e \(directory.path) ]; do sleep 0.2; done\n"
    }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    private func start(_ arguments: String..., terminal: PseudoTerminal) throws -> RunningProgram {
        try BuiltProducts.latchkey().start(arguments, environment: environment, terminal: terminal)
    }

    /// The interrupted run says so with its exit status, keeps nothing, and gives the terminal back.
    private func expectInterrupted(
        _ run: ProgramRun, _ terminal: PseudoTerminal? = nil, status: Int32 = 130
    ) async throws {
        #expect(run.status == status, "\(run.errorText)")
        // The way that was chosen depends on what this machine is; with --paste it was asked for, and isn't said.
        let choice = run.errorText.prefixMatch(of: /latchkey: signing in with [^\n]+, because [^\n]+\n/)
        let rest = run.errorText.dropFirst(choice?.output.count ?? 0)
        // A person who waits is told for how long.
        let wait = try #require(rest.prefixMatch(of: /latchkey: waiting up to 10 minutes for the [^\n]+\n/))
        // On a machine that is busy the wait may be long enough for advice.
        let said = rest.dropFirst(wait.output.count).replacing(/latchkey: no response yet[^\n]+\n/, with: "")
        #expect(said == "latchkey: error: the operation was interrupted [sign-in.cancelled]\n")
        #expect(run.output.isEmpty)
        if let terminal { #expect(terminal.echoes) }
        let list = try await self.run("list", "--all")
        #expect(list.status == 0 && list.output.isEmpty)
        let accounts = try await self.run("accounts")
        #expect(accounts.status == 0 && accounts.output.isEmpty)
    }

    @Test func `control-C while the browser is open ends the sign-in with 130 and leaves nothing`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start("sign-in", "work", terminal: terminal)
        try await running.wait(for: "the browser") { FileManager.default.fileExists(atPath: directory / "seen") }
        terminal.type("\u{3}")
        try await expectInterrupted(running.finish(), terminal)
    }

    @Test func `a signal while the browser is open ends the sign-in with 130 and leaves nothing`() async throws {
        let running = try BuiltProducts.latchkey().start(["sign-in", "work"], environment: environment)
        try await running.wait(for: "the browser") { FileManager.default.fileExists(atPath: directory / "seen") }
        running.signal(SIGINT)
        try await expectInterrupted(running.finish())
    }

    @Test func `a signal during the first sign-in at a server deletes the client's secret`() async throws {
        let origin = try #require(servers.environment["SERVER"])
        let running = try BuiltProducts.latchkey().start(
            ["sign-in", "other", "--issuer", origin + "/good", "--client-id", "me", "--client-secret-stdin"],
            environment: environment)
        running.type("hunter22hunter22")
        running.closeInput()
        try await running.wait(for: "the browser") { FileManager.default.fileExists(atPath: directory / "seen") }
        #expect(try await run("list", "--all").outputText.contains("client-secret"))
        running.signal(SIGINT)
        #expect(try await running.finish().status == 130)
        #expect(try await run("list", "--all").output.isEmpty)
        #expect(try await !run("provider", "list").outputText.contains("other"))
    }

    @Test(arguments: ["\u{3}", "http://127.0.0.1:1/half\u{3}"])
    func `control-C at the paste prompt ends the sign-in with 130 and leaves nothing`(typed: String) async throws {
        let terminal = try PseudoTerminal()
        let running = try start("sign-in", "work", "--paste", terminal: terminal)
        try await terminal.waitForQuestion("Address", from: running)
        terminal.type(typed)
        try await expectInterrupted(running.finish(), terminal)
        #expect(!terminal.shown.contains("half"))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal at the paste prompt ends the sign-in in order and gives the terminal back`(
        signal: Int32
    ) async throws {
        let terminal = try PseudoTerminal()
        let running = try start("sign-in", "work", "--paste", terminal: terminal)
        try await terminal.waitForQuestion("Address", from: running)
        running.signal(signal)
        try await expectInterrupted(running.finish(), terminal, status: 128 + signal)
    }

    @Test(arguments: [[], ["--ephemeral"]])
    func `the browser gets the link, and --ephemeral its word for a private window`(options: [String]) async throws {
        var environment = environment
        let (draft, given) = (directory / "given.new", directory / "given")
        environment["BROWSER"] = try directory.write(
            "firefox", "#!/bin/sh\necho \"$@\" > \(draft)\nmv \(draft) \(given)\n\(Self.untilRemoved(directory))",
            mode: 0o700)
        let running = try BuiltProducts.latchkey().start(["sign-in", "work"] + options, environment: environment)
        try await running.wait(for: "the browser") { FileManager.default.fileExists(atPath: given) }
        running.signal(SIGINT)
        try await expectInterrupted(running.finish())
        let words = String(decoding: try directory.read("given"), as: UTF8.self).split(separator: " ")
        #expect(words.dropLast() == (options.isEmpty ? [] : ["--private-window"]))
        #expect(try #require(words.last).wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\/go\/[\w-]{22}\n/) != nil)
    }
}
