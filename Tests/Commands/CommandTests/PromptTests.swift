internal import Foundation
internal import Testing
internal import TestServices

/// What a person at a terminal sees and types.
@Suite struct PromptTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try directory.environment()
    }

    private func start(_ arguments: String..., terminal: PseudoTerminal) throws -> RunningProgram {
        try BuiltProducts.latchkey().start(
            arguments, environment: environment, folder: directory.path, terminal: terminal)
    }

    /// Answers questions in order and returns the run.
    private func answer(
        _ running: RunningProgram, _ terminal: PseudoTerminal, _ questions: (question: String, answer: String)...
    ) async throws -> ProgramRun {
        for (question, answer) in questions {
            try await terminal.waitForQuestion(question, from: running)
            terminal.type(answer)
        }
        return try await running.finish()
    }

    @Test func `latchkey asks twice for a new vault's passphrase, and the passphrase opens the vault`() async throws {
        let terminal = try PseudoTerminal()
        let made = try await answer(
            try start("vault", "init", terminal: terminal), terminal,
            ("New passphrase of the vault", "orbit lantern cactus velvet\r"),
            ("Repeat it", "orbit lantern cactus velvet\r"))
        #expect(made.status == 0, "\(made.errorText)")
        #expect(!terminal.shown.contains("orbit"))
        let opening = try PseudoTerminal()
        let run = try await answer(
            try start("list", terminal: opening), opening,
            ("Passphrase of the vault", "orbit lantern cactus velvet\r"))
        #expect(run.status == 0, "\(run.errorText)")
    }

    @Test func `three wrong passphrases open no vault, and the terminal is restored`() async throws {
        try await PassphraseVault.make("orbit lantern cactus velvet".utf8, in: environment)
        let wrong = try PseudoTerminal()
        let refused = try await answer(
            try start("list", terminal: wrong), wrong, ("Passphrase of the vault", "battery staple\r"),
            ("Try again (2 of 3).\r\nPassphrase of the vault", "battery\r"),
            ("Try again (3 of 3).\r\nPassphrase of the vault", "staple\r"))
        #expect(refused.status == 77)
        #expect(refused.errorText.contains("[store.wrong-key]"))
        #expect(wrong.echoes)
    }

    @Test func `two different passphrases make no vault`() async throws {
        let terminal = try PseudoTerminal()
        let run = try await answer(
            try start("vault", "init", terminal: terminal), terminal, ("New passphrase of the vault", "one\r"),
            ("Use the short one anyway?", "y\r"), ("Repeat it", "two\r"))
        #expect(run.status == 65)
        #expect(run.errorText.contains("the two answers differ"))
        #expect(!FileManager.default.fileExists(atPath: directory / "data/latchkey/vault"))
    }

    @Test func `an empty passphrase makes no vault`() async throws {
        let terminal = try PseudoTerminal()
        let run = try await answer(
            try start("vault", "init", terminal: terminal), terminal, ("New passphrase of the vault", "\r"))
        #expect(run.status == 65)
        #expect(!FileManager.default.fileExists(atPath: directory / "data/latchkey/vault"))
    }

    @Test func `control-C at a question ends the command with 130 and restores the terminal`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start("vault", "init", terminal: terminal)
        let run = try await answer(running, terminal, ("New passphrase of the vault", "half\u{3}"))
        #expect(run.status == 130)
        #expect(terminal.echoes)
        #expect(!FileManager.default.fileExists(atPath: directory / "data/latchkey/vault"))
    }

    /// `latchkey set … ; rm FILE` went on.
    @Test func `control-C at a question ends the script around the command`() async throws {
        let terminal = try PseudoTerminal()
        let running = try Program("bash").start(
            ["-c", "for i in 1 2; do \(try BuiltProducts.latchkey().path) vault init; echo went on; done"],
            environment: environment, terminal: terminal)
        let run = try await answer(running, terminal, ("New passphrase of the vault", "half\u{3}"))
        #expect(run.status == 130 && !run.outputText.contains("went on"), "\(run.outputText)")
        #expect(run.errorText.contains("interrupted") && terminal.echoes)
    }

    /// They became a part of the secret: Ctrl-W, Ctrl-Z, Escape, an arrow key, the marks around what is pasted.
    @Test(arguments: [
        ["ab\u{17}", "hunter2\r"], ["ab\u{1A}", "hunter2\r"], ["ab\u{1B}x", "hunter2\r"], ["hun\u{1B}[D\u{1B}OAter2\r"],
        ["\u{1B}[200~hunter2\u{1B}[201~\r"],
    ])
    func `a control character at a question begins the answer anew, and an arrow key does nothing`(
        typed: [String]
    ) async throws {
        let key = directory / "key"
        try await BuiltProducts.latchkey().run(["vault", "init", "--key-file", key], environment: environment)
            .successful("vault init")
        let withKey = environment.merging(["LATCHKEY_KEY_FILE": key]) { _, new in new }
        let terminal = try PseudoTerminal()
        let running = try Program("/bin/sh").start(
            ["-c", "exec \(try BuiltProducts.latchkey().path) set example.org alice < /dev/tty"],
            environment: withKey, terminal: terminal)
        try await terminal.waitForQuestion("Secret for example.org/alice", from: running)
        terminal.type(typed[0])
        if typed.count > 1 {
            try await terminal.waitForQuestion("begin again", from: running)
            terminal.type(typed[1])
        }
        let run = try await answer(running, terminal, ("Repeat it", "hunter2\r"))
        #expect(run.status == 0, "\(run.errorText)")
        let kept = try await BuiltProducts.latchkey().run(["get", "example.org", "alice"], environment: withKey)
        #expect(kept.outputText == "hunter2")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `a signal at a question restores the terminal`(_ number: Int32) async throws {
        let terminal = try PseudoTerminal()
        let running = try start("vault", "init", terminal: terminal)
        try await terminal.waitForQuestion("New passphrase of the vault", from: running)
        running.signal(number)
        let run = try await running.finish()
        #expect(run.status == 128 + number)
        #expect(terminal.echoes)
    }

    @Test func `a typed secret isn't echoed`() async throws {
        let key = directory / "key"
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", key], environment: environment
        ).successful("vault init")
        let withKey = environment.merging(["LATCHKEY_KEY_FILE": key]) { _, new in new }
        let terminal = try PseudoTerminal()
        // Standard input has to be the terminal; a shell puts it there.
        let running = try Program("/bin/sh").start(
            ["-c", "exec \(try BuiltProducts.latchkey().path) set example.org alice < /dev/tty"],
            environment: withKey, terminal: terminal)
        let run = try await answer(
            running, terminal, ("Secret for example.org/alice", "hunter2\r"), ("Repeat it", "hunter2\r"))
        #expect(run.status == 0, "\(run.errorText)")
        #expect(!terminal.shown.contains("hunter2"))
        let read = try await BuiltProducts.latchkey().run(["get", "example.org", "alice"], environment: withKey)
        #expect(read.output == Array("hunter2".utf8))
    }

    @Test func `a line break follows a secret on a terminal, but not on standard output`() async throws {
        let latchkey = try BuiltProducts.latchkey()
        let withKey = environment.merging(["LATCHKEY_KEY_FILE": directory / "key"]) { _, new in new }
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: withKey)
            .successful("vault init")
        try await latchkey.run(
            ["set", "example.org", "alice"], environment: withKey, input: Array("hunter2".utf8)
        ).successful("set")
        let terminal = try PseudoTerminal()
        let onTerminal = try latchkey.start(
            ["get", "example.org", "alice"], environment: withKey, terminal: terminal, streamsOnTerminal: true)
        #expect(try await onTerminal.finish().status == 0)
        try await terminal.waitUntilShown("hunter2\r\n")
        let piped = try await latchkey.run(["get", "example.org", "alice"], environment: withKey)
        #expect(piped.output == Array("hunter2".utf8))
        #expect(piped.errorOutput.isEmpty)
    }

    @Test func `a short rekeying shows no progress`() async throws {
        let latchkey = try BuiltProducts.latchkey()
        let withKey = environment.merging(["LATCHKEY_KEY_FILE": directory / "key"]) { _, new in new }
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: withKey)
            .successful("vault init")
        let terminal = try PseudoTerminal()
        let running = try latchkey.start(
            ["vault", "rekey"], environment: withKey, terminal: terminal, streamsOnTerminal: true)
        #expect(try await running.finish().status == 0)
        try await terminal.waitUntilShown("encrypted 0 credentials with a new key\r\n")
        #expect(!terminal.shown.contains("encrypting "))
    }

    @Test func `control-C at the paste prompt ends the command with 130`() async throws {
        let servers = try await MetadataServer(certificates: CertificateAuthority(in: directory))
        let origin = try #require(servers.environment["SERVER"])
        let latchkey = try BuiltProducts.latchkey()
        var environment = environment
        environment["LATCHKEY_STORE"] = "vault"
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("vault init")
        try await latchkey.run(
            ["provider", "add", "work", "--issuer", origin + "/good", "--client-id", "me"], environment: environment
        ).successful("provider add")
        let terminal = try PseudoTerminal()
        let running = try latchkey.start(["sign-in", "work", "--paste"], environment: environment, terminal: terminal)
        let run = try await answer(running, terminal, ("Address", "\u{3}"))
        #expect(run.status == 130)
        #expect(run.errorText.hasSuffix("\nlatchkey: error: the operation was interrupted [sign-in.cancelled]\n"))
        #expect(terminal.shown.contains("\(origin)/authorize?"))
        #expect(terminal.echoes)
        withExtendedLifetime(servers) {}
    }
}
