internal import Foundation
internal import Testing
internal import TestServices

/// A backup that comes back where there is no vault yet, by a person at a terminal; and what they are told who can't be
/// asked. Without a terminal: Transcripts/restore.txt.
@Suite struct RestoreTests {
    private let directory: TestDirectory
    private let environment: [String: String]
    private static let passphrase = "orbit lantern cactus velvet\r"

    init() async throws {
        directory = try TestDirectory()
        environment = try await PassphraseVault.cheap(directory.environment())
        try await latchkey("vault", "init", "--vault", "old/vault", "--key-file", "key").successful("vault init")
        try await latchkey("set", "--vault", "old/vault", "example.org", "ada", input: "hunter2").successful("set")
        try await latchkey("vault", "export", "--vault", "old/vault", "backup", "--key-file", "backup.key")
            .successful("vault export")
    }

    @discardableResult
    private func latchkey(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            arguments, environment: environment.merging(["LATCHKEY_KEY_FILE": "key"]) { $1 }, input: Array(input.utf8),
            folder: directory.path)
    }

    /// Starts a command whose key is what its person types; standard input is the terminal where it says `< /dev/tty`.
    private func start(_ command: String, _ terminal: PseudoTerminal) throws -> RunningProgram {
        try Program("/bin/sh").start(
            ["-c", "exec '\(try BuiltProducts.latchkey().path)' \(command)"], environment: environment,
            folder: directory.path, terminal: terminal)
    }

    @Test func `restore asks a person whether to create a vault, and with which key`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start("vault import backup --key-file backup.key", terminal)
        try await terminal.waitForQuestion(
            "The vault \(directory / "data/latchkey/vault") doesn't exist yet. Create it? [y/N]", from: running)
        terminal.type("y\r")
        try await terminal.waitForQuestion("New passphrase of the vault", from: running)
        terminal.type(Self.passphrase)
        try await terminal.waitForQuestion("Repeat it", from: running)
        terminal.type(Self.passphrase)
        let run = try await running.finish()
        #expect(run.status == 0 && run.outputText.hasSuffix(": 1 added, 0 replaced, 0 kept\n"), "\(run.errorText)")

        let reading = try PseudoTerminal()
        let get = try start("get example.org ada", reading)
        try await reading.waitForQuestion("Passphrase of the vault", from: get)
        reading.type(Self.passphrase)
        #expect(try await get.finish().outputText == "hunter2")
    }

    /// The vault was there already, or its key file wasn't remembered: both ended with an error.
    @Test func `the same command continues a restore that was interrupted`() async throws {
        let restore = [
            "vault", "import", "backup", "--key-file", "backup.key", "--new-key-file", directory / "new.key",
        ]
        func run(_ arguments: [String]) async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(arguments, environment: environment, folder: directory.path)
        }
        // As far as a killed one came.
        try await run(["vault", "init", "--key-file", directory / "new.key"]).successful("init")
        try FileManager.default.removeItem(atPath: directory / "state")
        let again = try await run(restore)
        #expect(
            again.status == 0 && again.outputText.hasSuffix(": 1 added, 0 replaced, 0 kept\n"), "\(again.errorText)")
        #expect(try await run(["get", "example.org", "ada"]).outputText == "hunter2")
        // Another vault than the one of that key file.
        try FileManager.default.copyItem(atPath: directory / "key", toPath: directory / "other.key")
        let other = try await run(Array(restore.dropLast()) + [directory / "other.key"])
        #expect(other.status == 73 && other.errorText.contains("remove --new-key-file"), "\(other.errorText)")
    }

    /// Two machines that synchronize the file, of which the other one's copy stayed. The first noticed nothing.
    @Test func `a machine whose save a synchronized vault lacks is told, and goes on once it accepts that`()
        async throws
    {
        func run(_ machine: String, _ arguments: String..., input: String = "") async throws -> ProgramRun {
            let own = [
                "LATCHKEY_KEY_FILE": directory / "key", "LATCHKEY_VAULT": directory / "old/vault",
                "XDG_STATE_HOME": directory / machine,
            ]
            return try await BuiltProducts.latchkey().run(
                arguments, environment: environment.merging(own) { $1 }, input: Array(input.utf8))
        }
        try await run("a", "set", "example.org", "1", input: "x").successful("set")
        let copy = try directory.read("old/vault")
        try await run("a", "set", "example.org", "2", input: "lost").successful("set")
        try directory.write("old/vault", copy)
        for name in ["3", "4"] { try await run("b", "set", "example.org", name, input: name).successful("set") }

        let lack = "generation 4 is missing, and others have saved since, until generation 5"
        let refused = try await run("a", "get", "example.org", "3")
        #expect(refused.status == 77 && refused.errorText.contains("[store.rolled-back]"), "\(refused.errorText)")
        #expect(refused.errorText.contains(lack) && refused.errorText.contains("latchkey vault accept-rollback"))
        let status = try await run("a", "vault", "status", "--json")
        #expect(status.status == 77 && status.outputText.contains("\"state\": \"refused\""), "\(status.outputText)")
        let verified = try await run("a", "vault", "verify")
        #expect(verified.status == 77 && verified.errorText.contains("is intact, but"), "\(verified.errorText)")
        #expect(try await run("b", "get", "example.org", "3").outputText == "3")
        let accepted = try await run("a", "vault", "accept-rollback")
        #expect(
            accepted.status == 0 && accepted.outputText.hasSuffix(": accepted; \(lack)\n"), "\(accepted.outputText)")
        #expect(try await run("a", "get", "example.org", "3").outputText == "3")
    }

    /// The editor's save went under the machine's name, after which nothing showed that another one of it was lost.
    @Test func `a save of a command that began before another save was lost is refused`() async throws {
        let program = try BuiltProducts.latchkey().path
        let vault = directory / "old/vault"
        try directory.write(
            "editor",
            """
            #!/bin/sh
            cp '\(vault)' before
            printf lost | '\(program)' set example.org lost
            cat before > '\(vault)'
            for name in 1 2; do printf x | XDG_STATE_HOME='\(directory / "b")' '\(program)' set example.org $name; done
            printf new > "$1"
            """, mode: 0o700)
        let own = [
            "LATCHKEY_KEY_FILE": directory / "key", "LATCHKEY_VAULT": vault, "EDITOR": directory / "editor",
        ]
        func run(_ arguments: String...) async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(
                arguments, environment: environment.merging(own) { $1 }, folder: directory.path)
        }
        let edited = try await run("edit", "example.org", "ada")
        #expect(edited.status == 77 && edited.errorText.contains("[store.rolled-back]"), "\(edited.errorText)")
        #expect(try await run("list").status == 77)
    }

    /// Only `latchkey vault verify` was named, which looks at the vault that was intact.
    @Test func `a damaged backup is named`() async throws {
        for number in 0..<40 {
            try await latchkey("set", "--vault", "old/vault", "example.org", "\(number)", input: "x").successful("set")
        }
        try await latchkey("vault", "export", "--vault", "old/vault", "many", "--key-file", "backup.key")
            .successful("vault export")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory / "many"))
        try file.seek(toOffset: 5 * 4096)
        try file.write(contentsOf: Data(repeating: 7, count: 4096))
        let run = try await latchkey(
            "vault", "import", "many", "--vault", "old/vault", "--key-file", "backup.key")
        #expect(run.status == 65 && run.errorText.contains("many"), "\(run.errorText)")
        #expect(run.errorText.contains("--vault"), "\(run.errorText)")
    }

    /// The one that failed deleted the key file that it had made, and the other one's backup had no key.
    @Test func `an export that fails takes no key file from another one`() async throws {
        for number in 0..<20 {
            try await latchkey(
                "set", "--vault", "old/vault", "large", "\(number)", input: String(repeating: "x", count: 300_000)
            ).successful("set")
        }
        let script = """
            export LATCHKEY_KEY_FILE=key
            (ulimit -f 4000; "$0" vault export --vault old/vault full --key-file kx 2> errors) &
            until test -e kx || ! kill -0 $!; do :; done
            "$0" vault export --vault old/vault good --key-file kx 2>> errors > out; echo $?
            wait
            test ! -e kx || echo kept
            """
        for _ in 0..<3 {
            let run = try await Program("bash").run(
                ["-c", script, BuiltProducts.latchkey().path], environment: environment, folder: directory.path)
            // The other one is told to try again, or came after the end of the first.
            #expect(["75\n", "0\nkept\n"].contains(run.outputText), "\(run.outputText)")
            #expect(try String(decoding: directory.read("errors"), as: UTF8.self).contains("[store.cannot-write]"))
            for name in ["full", "good", "kx"] { try? FileManager.default.removeItem(atPath: directory / name) }
        }
    }

    @Test func `a person who declines gets no vault`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start("vault import backup --key-file backup.key", terminal)
        try await terminal.waitForQuestion("Create it? [y/N]", from: running)
        terminal.type("n\r")
        let run = try await running.finish()
        #expect(run.status == 69 && run.errorText.contains("hint: add --new-key-file to create the vault"))
        #expect(!FileManager.default.fileExists(atPath: directory / "data/latchkey/vault"))
    }

    @Test func `a backup that doesn't open makes no vault and asks for no new passphrase`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start("vault import backup --key-file key", terminal)
        try await terminal.waitForQuestion("Create it? [y/N]", from: running)
        terminal.type("y\r")
        let run = try await running.finish()
        #expect(run.status == 77 && run.errorText.contains("[store.wrong-key]"), "\(run.errorText)")
        #expect(!terminal.shown.contains("New passphrase"))
        #expect(!FileManager.default.fileExists(atPath: directory / "data/latchkey/vault"))
    }

    @Test(arguments: [
        (
            "set --vault old/vault example.org bob",
            "run the command without --no-prompt, or pipe the secret in, as in `latchkey set … < FILE`"
        ),
        (
            "set --vault old/vault example.org ada",
            "run the command without --no-prompt, or add --force to replace the secret without a question"
        ),
    ])
    func `without a terminal restore says how to continue`(_ command: String, _ hint: String) async throws {
        let terminal = try PseudoTerminal()
        let run = try await start("\(command) --no-prompt < /dev/tty", terminal).finish()
        #expect(run.status == 77 && run.errorText.hasSuffix("latchkey: hint: \(hint)\n"), "\(run.errorText)")
        #expect(terminal.shown.isEmpty)
    }
}
