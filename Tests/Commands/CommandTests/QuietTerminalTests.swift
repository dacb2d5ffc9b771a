internal import Foundation
internal import Testing
internal import TestServices

/// Between two questions the echo stays off: a vault takes half a second to open, and a person types the next secret
/// already.
@Suite struct QuietTerminalTests {
    private static let passphrase = "orbit lantern cactus velvet"

    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try directory.environment()
        try Data(Self.passphrase.utf8).write(to: URL(fileURLWithPath: directory / "words"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory / "words")
    }

    private func makeVault(mebibytes: Int = 8) async throws {
        try await PassphraseVault.make(Self.passphrase.utf8, in: environment, mebibytes: mebibytes)
    }

    /// What takes long enough to open that much can happen meanwhile.
    private func makeSlowVault() async throws { try await makeVault(mebibytes: 128) }

    /// Starts `latchkey set a b` at a terminal, and gives it a passphrase.
    private func startSet(_ terminal: PseudoTerminal, _ passphrase: String) async throws -> RunningProgram {
        let running = try Program("/bin/sh").start(
            ["-c", "exec \(try BuiltProducts.latchkey().path) set a b < /dev/tty"], environment: environment,
            terminal: terminal)
        try await terminal.waitForQuestion("Passphrase of the vault", from: running)
        terminal.type(passphrase + "\r")
        try await terminal.waitUntilShown("Passphrase of the vault: \r\n")
        return running
    }

    @Test(arguments: [
        (Self.passphrase, "Secret for a/b"), ("wrong", "Try again (2 of 3).\r\nPassphrase of the vault:"),
    ])
    func `a secret that is typed before its prompt isn't shown`(_ first: String, _ question: String) async throws {
        try await makeSlowVault()
        let terminal = try PseudoTerminal()
        let running = try await startSet(terminal, first)
        var echoed = false
        var typed = 0
        while !terminal.shown.contains(question) {
            echoed = echoed || terminal.echoes
            terminal.type("hunter2")
            try await Task.sleep(for: .milliseconds(5))
            typed += 1
            guard typed < 10_000 else { break }
        }
        #expect(!echoed)
        try await terminal.waitForQuestion(question, from: running)
        terminal.type("\u{3}")
        #expect(try await running.finish().status == 130)
        #expect(!terminal.shown.contains("hunter2"))
        #expect(terminal.echoes)
    }

    @Test func `control-C while a vault opens prints a line, and restores the terminal`() async throws {
        try await makeSlowVault()
        let terminal = try PseudoTerminal()
        let running = try await startSet(terminal, Self.passphrase)
        try await running.wait(for: "Ctrl-C to be a signal") {
            // On a busy machine the next question, where it is a byte, may be there first.
            terminal.sendsSignals || terminal.shown.contains("Secret for a/b")
        }
        terminal.type("\u{3}")
        let run = try await running.finish()
        #expect(run.status == 130)
        #expect(run.errorText.hasSuffix("latchkey: error: interrupted [prompt.interrupted]\n"), "\(run.errorText)")
        #expect(!terminal.shown.contains("^C"))
        #expect(terminal.echoes)
    }

    @Test func `a stopped program releases the terminal until it continues`() async throws {
        try await makeVault()
        let terminal = try PseudoTerminal()
        let running = try await startSet(terminal, Self.passphrase)
        try await terminal.waitForQuestion("Secret for a/b", from: running)
        running.signal(SIGTSTP)
        try await running.wait(for: "the echo") { terminal.echoes }
        // It restores the terminal before it stops: an earlier SIGCONT would continue nothing, and be lost.
        try await running.wait(for: "the stop") {
            let stat = try? String(contentsOfFile: "/proc/\(running.pid)/stat", encoding: .utf8)
            return stat?.contains(") T ") == true
        }
        running.signal(SIGCONT)
        try await running.wait(for: "the question to go on") { !terminal.echoes }
        terminal.type("hunter2\r")
        try await terminal.waitForQuestion("Repeat it", from: running)
        terminal.type("hunter2\r")
        #expect(try await running.finish().status == 0)
        #expect(!terminal.shown.contains("hunter2"))
        #expect(terminal.echoes)
    }

    @Test func `a program that starts after a question has the original terminal settings`() async throws {
        try await makeVault()
        var environment = environment
        environment["EDITOR"] = "sh -c 'stty -a < /dev/tty > \(directory / "modes")'"
        environment["XDG_RUNTIME_DIR"] = nil
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(
            ["set", "a", "b"],
            environment: environment.merging(["LATCHKEY_PASSPHRASE_FILE": directory / "words"]) { $1 }, input: [0x78]
        ).successful("set")
        let terminal = try PseudoTerminal()
        let running = try latchkey.start(["edit", "a", "b"], environment: environment, terminal: terminal)
        try await terminal.waitForQuestion("Passphrase of the vault", from: running)
        terminal.type(Self.passphrase + "\r")
        #expect(try await running.finish().status == 0)
        let modes = String(decoding: try directory.read("modes"), as: UTF8.self)
        #expect(modes.contains(" echo ") && modes.contains(" icanon "), "\(modes)")
    }

    @Test(arguments: [
        ("printf other | latchkey set a b --force", "Replace the secret", "y", Int32(0), "new"),
        ("printf other | latchkey set a b --force", "Replace the secret", "n", 77, "other"),
        ("mv data aside", "Try to save it again?", "y", 0, "new"),
        ("mv data aside", "Try to save it again?", "n", 77, "x"),
    ])
    func `what was typed in an editor can be saved once the obstacle is gone`(
        _ obstacle: String, _ question: String, _ answer: String, _ status: Int32, _ kept: String
    ) async throws {
        try await makeVault()
        var environment = environment
        environment["PATH"] = try BuiltProducts.searchPath()
        environment["LATCHKEY_PASSPHRASE_FILE"] = directory / "words"
        environment["EDITOR"] = "sh -c 'printf new > \"$1\" && cd \(directory.path) && \(obstacle)' sh"
        environment["XDG_RUNTIME_DIR"] = nil
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["set", "a", "b"], environment: environment, input: [0x78]).successful("set")
        let terminal = try PseudoTerminal()
        let running = try latchkey.start(
            ["edit", "a", "b"], environment: environment, terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitForQuestion(question, from: running)
        let aside = directory / "aside"
        if FileManager.default.fileExists(atPath: aside) {
            try FileManager.default.moveItem(atPath: aside, toPath: directory / "data")
        }
        terminal.type(answer + "\r")
        #expect(try await running.finish().status == status, "\(terminal.shown)")
        #expect(try await latchkey.run(["get", "a", "b"], environment: environment).outputText == kept)
    }

    @Test func `an edited file that is too long is named, and the secret stays`() async throws {
        try await makeVault()
        var environment = environment
        environment["EDITOR"] = "truncate -s 20M"
        environment["LATCHKEY_PASSPHRASE_FILE"] = directory / "words"
        // It isn't in memory, so /dev/shm is taken.
        let disk = try TestDirectory(inMemory: false)
        environment["XDG_RUNTIME_DIR"] = disk.path
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["set", "a", "b"], environment: environment, input: [0x78]).successful("set")
        let edit = try await latchkey.run(["edit", "a", "b"], environment: environment)
        #expect(edit.status == 65, "\(edit.errorText)")
        #expect(edit.errorText.contains("the edited file has more than 16777216 bytes"), "\(edit.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
        #expect(try await latchkey.run(["get", "a", "b"], environment: environment).outputText == "x")
    }
}
