import Foundation
import Testing
import TestServices

/// What commands ask and say at a terminal, and nowhere else.
@Suite struct AtATerminalTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["TERM"] = "dumb"
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
    }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    private func start(_ arguments: [String], _ terminal: PseudoTerminal) throws -> RunningProgram {
        try BuiltProducts.latchkey().start(
            arguments, environment: environment, terminal: terminal, streamsOnTerminal: true)
    }

    // MARK: - Control characters

    /// A secret that another program stored could set the terminal's title, or type into it.
    @Test func `a secret's control characters are escaped on a terminal, and a pipe gets them unchanged`() async throws
    {
        let secret = "pass\u{1B}]0;owned\u{7}\r\nword\t\u{9B}31m\u{202E}é\\"
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["set", "example.org", "ada"], environment: environment, input: Array(secret.utf8))
            .successful("set")
        let terminal = try PseudoTerminal()
        #expect(try await start(["get", "example.org", "ada"], terminal).finish().status == 0)
        try await terminal.waitUntilShown("control characters are escaped on a terminal")
        #expect(
            terminal.shown.contains(
                "pass\\u{1b}]0;owned\\u{7}\\u{d}\r\nword\t\\u{9b}31m\\u{202e}é\\\r\n"), "\(terminal.shown)")
        let raw = try PseudoTerminal()
        #expect(try await start(["get", "example.org", "ada", "--raw"], raw).finish().status == 0)
        try await raw.waitUntilShown("\u{1B}]0;owned\u{7}")
        #expect(try await run("get", "example.org", "ada").outputText == secret)
        // An ordinary one is shown alone.
        try await latchkey.run(["set", "example.org", "bob"], environment: environment, input: Array("a\tbé\\".utf8))
            .successful("set")
        let plain = try PseudoTerminal()
        #expect(try await start(["get", "example.org", "bob"], plain).finish().status == 0)
        try await plain.waitUntilShown("a\tbé\\\r\n")
        #expect(!plain.shown.contains("escaped"))
    }

    /// It was replaced without a question.
    @Test func `a secret that another process stores while a person types is kept`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start(["set", "example.org", "ada"], terminal)
        try await terminal.waitForQuestion("Secret for example.org/ada", from: running)
        try await run("generate", "example.org", "ada").successful("generate")
        let theirs = try await run("get", "example.org", "ada").outputText
        terminal.type("typed\r")
        try await terminal.waitForQuestion("Repeat it", from: running)
        terminal.type("typed\r")
        #expect(try await running.finish().status == 73)
        try await terminal.waitUntilShown("nothing was stored")
        #expect(try await run("get", "example.org", "ada").outputText == theirs)
    }

    // MARK: - A provider's name that is in use

    private func clientID() throws -> String {
        String(decoding: try directory.read("config/latchkey/providers/forge.json"), as: UTF8.self)
            .contains("\"client_id\": \"first\"") ? "first" : "second"
    }

    private let add = ["provider", "add", "forge", "--service", "codeberg", "--client-id"]

    @Test(arguments: [("n", 77, "first"), ("", 77, "first"), ("y", 0, "second"), ("yes", 0, "second")])
    func `latchkey asks before it replaces the server of an existing name`(
        _ answer: String, _ status: Int32, _ kept: String
    ) async throws {
        try await BuiltProducts.latchkey().run(add + ["first"], environment: environment).successful("provider add")
        let terminal = try PseudoTerminal()
        let running = try start(add + ["second"], terminal)
        try await terminal.waitForQuestion("Replace the provider forge (codeberg)?", from: running)
        terminal.type(answer + "\r")
        #expect(try await running.finish().status == status)
        #expect(try clientID() == kept)
        if status == 77 {
            try await terminal.waitUntilShown("error: the provider forge exists, and was not changed [provider.kept]")
        }
        #expect(terminal.echoes)
    }

    @Test func `latchkey doesn't ask with --force, for a new name or for the same settings`() async throws {
        for arguments in [add + ["second"], add + ["first", "--force"], add + ["first"]] {
            #expect(try await start(arguments, PseudoTerminal()).finish().status == 0)
        }
        #expect(try clientID() == "first")
    }

    @Test func `without a terminal a name that is in use is refused`() async throws {
        try await BuiltProducts.latchkey().run(add + ["first"], environment: environment).successful("provider add")
        let run = try await BuiltProducts.latchkey().run(add + ["second"], environment: environment)
        #expect(run.status == 77 && run.errorText.contains("[provider.kept]"))
        #expect(try clientID() == "first")
    }

    // MARK: - Lists

    @Test func `a list at a terminal counts the items of sign-ins`() async throws {
        try await BuiltProducts.latchkey().run(
            add + ["me", "--client-secret-stdin"], environment: environment, input: Array("hunter22hunter22".utf8)
        ).successful("provider add")
        let terminal = try PseudoTerminal()
        #expect(try await start(["list"], terminal).finish().status == 0)
        try await terminal.waitUntilShown("latchkey: 1 more belongs to sign-ins: latchkey accounts, or list --all\r\n")
        let piped = try await run("list")
        #expect(piped.output.isEmpty && piped.errorText.hasPrefix("latchkey: no secret is stored in vault "))
        #expect(try await run("list", "--all").outputText.contains("client-secret"))
    }

    @Test(arguments: [1, 10_000])
    func `help and listings lose no word at any width`(_ width: Int) async throws {
        func words(_ arguments: [String], _ width: Int) async throws -> [Substring] {
            let run = try await BuiltProducts.latchkey().run(
                arguments, environment: environment.merging(["COLUMNS": "\(width)"]) { $1 }
            ).successful("\(arguments)")
            // A command that is broken into lines has a backslash at their ends.
            return run.outputText.split { $0.isWhitespace || $0 == "\\" }
        }
        for arguments in [
            ["help"], ["help", "vault"], ["help", "options"], ["sign-in", "--help"], ["run", "--help"],
        ] {
            #expect(try await words(arguments, width) == words(arguments, 80), "\(arguments)")
        }
        _ = try await words(["list", "--all"], width)
    }

    @Test(arguments: [40, 80, 200])
    func `a table fits the terminal's width, and has any width in a pipe`(_ width: Int) async throws {
        let label = String(repeating: "label ", count: 40) + "end"
        try await BuiltProducts.latchkey().run(
            ["set", "a-service-with-a-long-name.example.org", "somebody@example.org", "--label", label],
            environment: environment, input: [0x78]
        ).successful("set")
        var narrow = environment
        narrow["COLUMNS"] = "\(width)"
        let terminal = try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            ["list"], environment: narrow, terminal: terminal, streamsOnTerminal: true)
        #expect(try await running.finish().status == 0)
        // What matters least is cut at 200 columns, and not there at 80; at 40 names are cut as well.
        try await terminal.waitUntilShown("…\r\n")
        let lines = terminal.shown.split(separator: "\r\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.count <= width }, "\(terminal.shown)")
        #expect(terminal.shown.contains("LABEL") == (width == 200))
        let piped = try await BuiltProducts.latchkey().run(["list"], environment: narrow)
        #expect(piped.outputText.contains(label))
    }

    @Test func `the doctor's long findings are wrapped, not cut`() async throws {
        let wide = try await run("doctor", "--verbose").outputText
        var narrow = environment
        narrow["COLUMNS"] = "60"
        let terminal = try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            ["doctor", "--verbose"], environment: narrow, terminal: terminal, streamsOnTerminal: true)
        _ = try await running.finish()
        try await terminal.waitUntilShown("deleted")
        let shown = terminal.shown
        #expect(!shown.contains("…") && shown.split(separator: "\r\n").count > wide.split(separator: "\n").count)
        func words(_ text: String) -> Set<Substring> {
            Set(text.split { $0.isWhitespace })
        }
        #expect(words(wide).subtracting(words(shown)).count < 6, "\(words(wide).subtracting(words(shown)))")
    }
}

/// Items that aren't credentials, which a listing says nothing of elsewhere than at a terminal.
@Suite struct ItemsAtATerminalTests {
    @Test func `a listing at a terminal mentions the vault's items`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["TERM"] = "dumb"
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("vault init")
        try await latchkey.run(["set", "example.org", "ada"], environment: environment, input: Array("x".utf8))
            .successful("set")
        func listing(until text: String) async throws -> String {
            let terminal = try PseudoTerminal()
            let running = try latchkey.start(
                ["list"], environment: environment, terminal: terminal, streamsOnTerminal: true)
            #expect(try await running.finish().status == 0)
            try await terminal.waitUntilShown(text)
            return terminal.shown
        }
        #expect(try await listing(until: "example.org").contains("--items") == false)
        try await BuiltProducts.program("vault-writer").run(
            ["items", directory / "data/latchkey/vault", directory / "key", "mail", "1"], environment: environment
        ).successful("items")
        _ = try await listing(until: "1 item has other attributes: latchkey list --items")
    }
}
