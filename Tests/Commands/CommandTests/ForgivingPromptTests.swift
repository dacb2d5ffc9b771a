internal import Foundation
internal import Testing
internal import TestServices

/// What a person at a terminal is spared: a mistyped secret, one that is overwritten, a vault that stays shut.
@Suite struct ForgivingPromptTests {
    private static let good = "orbit lantern cactus velvet"

    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        environment = try await PassphraseVault.cheap(directory.environment())
    }

    /// Types the answers to questions, one after the other, and returns the run and all that was shown.
    ///
    /// - Parameter command: for the shell; standard input is the terminal where it says `< /dev/tty`.
    private func answer(
        _ command: String, _ questions: (question: String, answer: String)...
    ) async throws -> (run: ProgramRun, shown: String) {
        let terminal = try PseudoTerminal()
        let running = try start(command, at: terminal)
        for (question, answer) in questions {
            try await terminal.waitForQuestion(question, from: running)
            terminal.type(answer)
        }
        let run = try await running.finish()
        #expect(terminal.echoes)
        return (run, terminal.shown)
    }

    private func start(_ command: String, at terminal: PseudoTerminal) throws -> RunningProgram {
        try Program("/bin/sh").start(
            ["-c", "latchkey() { '\(try BuiltProducts.latchkey().path)' \"$@\"; }\n\(command)"],
            environment: environment, folder: directory.path, terminal: terminal)
    }

    private func latchkey(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            arguments, environment: environment, input: Array(input.utf8), folder: directory.path)
    }

    // MARK: - set

    @Test func `a secret that is typed differently the second time is not saved`() async throws {
        try await latchkey("vault", "init", "--key-file", "key").successful("vault init")
        let (run, shown) = try await answer(
            "latchkey set example.org ada < /dev/tty", ("Secret for example.org/ada", "hunter2\r"),
            ("Repeat it", "hunter3\r"))
        #expect(run.status == 65 && run.errorText.contains("[prompt.different]"), "\(run.errorText)")
        #expect(!shown.contains("hunter"))
        #expect(try await latchkey("get", "example.org", "ada").status == 1)
    }

    @Test func `a secret is replaced after a question, or with --force`() async throws {
        try await latchkey("vault", "init", "--key-file", "key").successful("vault init")
        try await latchkey("set", "example.org", "ada", input: "old").successful("set")
        let (kept, _) = try await answer(
            "latchkey set example.org ada < /dev/tty", ("Replace the secret for example.org/ada? [y/N]", "n\r"))
        #expect(kept.status == 77 && kept.errorText.contains("[secret.kept]"), "\(kept.errorText)")
        #expect(try await latchkey("get", "example.org", "ada").outputText == "old")
        // A slip is taken back, and what is typed here is shown.
        let (replaced, shown) = try await answer(
            "latchkey set example.org ada < /dev/tty", ("Replace the secret", "no\u{7F}\u{7F}yes\r"),
            ("Secret for example.org/ada", "new\r"), ("Repeat it", "new\r"))
        #expect(replaced.status == 0, "\(replaced.errorText)")
        #expect(shown.contains("yes") && !shown.contains("new"))
        #expect(try await latchkey("get", "example.org", "ada").outputText == "new")
        let (forced, asked) = try await answer(
            "latchkey set --force example.org ada < /dev/tty", ("Secret for example.org/ada", "newer\r"),
            ("Repeat it", "newer\r"))
        #expect(forced.status == 0 && !asked.contains("Replace"))
        // A script is not asked, as ever.
        try await latchkey("set", "example.org", "ada", input: "newest").successful("set")
        #expect(try await latchkey("get", "example.org", "ada").outputText == "newest")
    }

    @Test func `set keeps a final newline with a note, and removes it with --trim`() async throws {
        try await latchkey("vault", "init", "--key-file", "key").successful("vault init")
        let note = "latchkey: the secret ends with a newline, which is stored too; to remove it, add --trim\n"
        let kept = try await latchkey("set", "example.org", "ada", input: "hunter2\n").successful("set")
        #expect(kept.errorText.hasPrefix(note))
        #expect(try await latchkey("get", "example.org", "ada").outputText == "hunter2\n")
        for input in ["hunter2", "hunter2\n"] {
            let run = try await latchkey("set", "--trim", "example.org", "ada", input: input).successful("set")
            #expect(!run.errorText.contains("newline"))
            #expect(try await latchkey("get", "example.org", "ada").outputText == "hunter2")
        }
        // One newline, and no other character.
        try await latchkey("set", "--trim", "example.org", "ada", input: " a\r\n\n").successful("set")
        #expect(try await latchkey("get", "example.org", "ada").outputText == " a\r\n")
    }

    @Test func `delete asks at a terminal, and not with --yes`() async throws {
        try await latchkey("vault", "init", "--key-file", "key").successful("vault init")
        try await latchkey("set", "example.org", "ada", input: "one").successful("set")
        let question = "Delete the secret for example.org/ada from vault \(directory.path)/data/latchkey/vault? [y/N]"
        let (kept, _) = try await answer("latchkey delete example.org ada < /dev/tty", (question, "\r"))
        #expect(kept.status == 77 && kept.errorText.contains("was not deleted [secret.kept]"), "\(kept.errorText)")
        let (gone, _) = try await answer("latchkey rm example.org < /dev/tty", ("Delete the secret for", "y\r"))
        #expect(gone.status == 0 && gone.errorText.contains("deleted the secret for example.org/ada from vault"))
        try await latchkey("set", "example.org", "ada", input: "one").successful("set")
        let (yes, asked) = try await answer("latchkey delete --yes example.org ada < /dev/tty")
        #expect(yes.status == 0 && asked.isEmpty)
    }

    @Test func `without a store, set offers to create a vault with a key file or a passphrase`() async throws {
        let question = "Create an encrypted vault, opened by a key file (k) or a passphrase (p)? [k/p/N]"
        let set = "printf x | latchkey set example.org ada"
        let (none, _) = try await answer(set, (question, "\r"))
        #expect(none.status == 69 && none.errorText.contains("[selection.no-store]"))
        #expect(none.errorText.contains("hint: run `latchkey vault init --key-file "))
        #expect(!FileManager.default.fileExists(atPath: directory / "data/latchkey"))
        let (file, _) = try await answer(set, (question, "k\r"))
        #expect(file.status == 0, "\(file.errorText)")
        #expect(try directory.read("config/latchkey/vault.key").count == 32)
        #expect(try await latchkey("get", "example.org").outputText == "x")
        try FileManager.default.removeItem(atPath: directory / "data/latchkey")
        try FileManager.default.removeItem(atPath: directory / "state/latchkey")
        let (passphrase, shown) = try await answer(
            set, (question, "p\r"), ("New passphrase of the vault", Self.good + "\r"), ("Repeat it", Self.good + "\r"))
        #expect(passphrase.status == 0 && !shown.contains(Self.good), "\(passphrase.errorText)")
        // A command that stores nothing new asks nothing.
        try FileManager.default.removeItem(atPath: directory / "data/latchkey")
        try FileManager.default.removeItem(atPath: directory / "state/latchkey")
        let (get, asked) = try await answer("latchkey get example.org")
        #expect(get.status == 69 && asked.isEmpty)
    }

    @Test func `after a move, latchkey asks whether to use the target from then on`() async throws {
        try await latchkey("vault", "init", "--key-file", "key").successful("vault init")
        try await latchkey("vault", "init", "--vault", "other/vault", "--key-file", "key").successful("vault init")
        try await latchkey("set", "example.org", "ada", input: "one").successful("set")
        let move = "latchkey move --from vault --to other/vault"
        let (kept, _) = try await answer(move, ("Use \(directory.path)/other/vault from now on? [y/N]", "n\r"))
        #expect(kept.status == 0 && kept.errorText.contains("run `latchkey config set vault "), "\(kept.errorText)")
        #expect(try await latchkey("get", "example.org", "ada").status == 1)
        try await latchkey("move", "--from", "other/vault", "--to", "vault").successful("move")
        let (used, _) = try await answer(move, ("from now on? [y/N]", "y\r"))
        #expect(used.status == 0, "\(used.errorText)")
        #expect(try await latchkey("get", "example.org", "ada").outputText == "one")
    }

    // MARK: - Passphrases

    @Test(arguments: [("fourteen chars", true), ("fifteen chars!!", false), (good, false)])
    func `a passphrase with fewer than 15 characters is short`(_ passphrase: String, _ isShort: Bool) async throws {
        let (run, shown) = try await answer(
            "latchkey vault init", ("New passphrase of the vault", passphrase + "\r"),
            (isShort ? "Use the short one anyway? [y/N]" : "Repeat it", "\u{3}"))
        #expect(run.status == 130)
        #expect(shown.contains("fewer than 15 characters is easy to guess") == isShort, "\(shown)")
        #expect(!shown.contains(passphrase))
    }

    @Test func `a short passphrase is accepted only after a question`() async throws {
        let (run, shown) = try await answer(
            "latchkey vault init", ("New passphrase of the vault", "hunter2\r"),
            ("Use the short one anyway? [y/N]", "hunter2\r"),
            ("[y/N]: \r\nNew passphrase of the vault", Self.good + "\r"), ("Repeat it", Self.good + "\r"))
        #expect(run.status == 0, "\(run.errorText)")
        #expect(!shown.contains("hunter2"))
        let (taken, _) = try await answer(
            "latchkey vault init --vault second/vault", ("New passphrase of the vault", "hunter2\r"),
            ("Use the short one anyway?", "y\r"), ("Repeat it", "hunter2\r"))
        #expect(taken.status == 0, "\(taken.errorText)")
    }

    @Test func `latchkey proposes a generated passphrase instead of a short one, and it opens the vault`() async throws
    {
        let terminal = try PseudoTerminal()
        let running = try start("latchkey vault init", at: terminal)
        try await terminal.waitForQuestion("New passphrase of the vault", from: running)
        terminal.type("hunter2\r")
        try await terminal.waitForQuestion("Use the short one anyway?", from: running)
        let proposed = try #require(terminal.shown.firstMatch(of: /\r\n  ([a-z]{5}(-[a-z]{5}){4})\r\n/))
        let proposal = String(proposed.output.1)
        terminal.type("n\r")
        for question in ["[y/N]: \r\nNew passphrase of the vault", "Repeat it"] {
            try await terminal.waitForQuestion(question, from: running)
            terminal.type(proposal + "\r")
        }
        #expect(try await running.finish().status == 0)
        let (listed, _) = try await answer("latchkey list", ("Passphrase of the vault", proposal + "\r"))
        #expect(listed.status == 0, "\(listed.errorText)")
    }

    @Test func `a passphrase may be mistyped twice, and the first prompt says how to be asked less often`() async throws
    {
        try await PassphraseVault.make(Self.good.utf8, in: environment)
        let (run, shown) = try await answer(
            "cd data/latchkey && latchkey list --vault vault", ("Passphrase of the vault", "a\r"),
            ("Try again (2 of 3).\r\nPassphrase of the vault", "b\r"),
            ("Try again (3 of 3).\r\nPassphrase of the vault", Self.good + "\r"))
        #expect(run.status == 0, "\(run.errorText)")
        let (again, later) = try await answer("latchkey list", ("Passphrase of the vault", Self.good + "\r"))
        #expect(again.status == 0)
        #expect(!later.contains("vault unlock"))
        // Where the kernel refuses, as in many containers, it would be no help.
        let script = TestData.folder().appendingPathComponent("kernel_keyring.py").path
        let isAllowed = try await Program("/usr/bin/python3").run([script, "probe"]).status == 0
        #expect(shown.contains("To be asked less often, run `latchkey vault unlock --vault vault`.") == isAllowed)
    }

    @Test func `vault passwd asks for the old passphrase and changes that slot alone`() async throws {
        try await latchkey("vault", "init", "--key-file", "key").successful("vault init")
        let (none, _) = try await answer("latchkey vault passwd")
        #expect(
            none.status == 1
                && none.errorText.contains("hint: add a passphrase with `latchkey vault add-slot passphrase`"))
        try directory.write("one", "one")
        try directory.write("two", "two")
        for name in ["one", "two"] {
            try await PassphraseVault.addSlot(
                name, name.utf8, to: directory / "data/latchkey/vault", keyFile: directory / "key")
        }
        let before = try await latchkey("vault", "slots").outputText
        // The key file would open it; the old passphrase is wanted all the same.
        let (run, shown) = try await answer(
            "latchkey vault passwd", ("Old passphrase of the vault", "three\r"),
            ("Try again (2 of 3).\r\nOld passphrase of the vault", "two\r"),
            ("New passphrase of the vault", Self.good + "\r"), ("Repeat it", Self.good + "\r"))
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.errorText.contains("latchkey: changed the vault's passphrase\n") && !shown.contains("orbit"))
        try directory.write("new", Self.good)
        for (name, status) in [("one", 0), ("two", 77), ("new", 0)] as [(String, Int32)] {
            #expect(try await answer("latchkey list --passphrase-fd 3 3< \(name)").run.status == status, "\(name)")
        }
        // Removing one is asked for at a terminal, with the names of the others.
        let question = "Remove the slot \"two\"? The slots that stay: "
        let (kept, _) = try await answer("latchkey vault remove-slot two < /dev/tty", (question, "n\r"))
        #expect(kept.status == 77 && kept.errorText.contains("[slot.kept]"), "\(kept.errorText)")
        let names = { (text: String) in text.split(separator: "\n").map { $0.prefix(10) } }
        #expect(names(try await latchkey("vault", "slots").outputText) == names(before))
        // Without a person both come through descriptors.
        let (scripted, _) = try await answer(
            "latchkey vault passwd --passphrase-fd 3 --new-passphrase-fd 4 3< new 4< two")
        #expect(scripted.status == 0, "\(scripted.errorText)")
        #expect(try await answer("latchkey list --passphrase-fd 3 3< two").run.status == 0)
        let (gone, _) = try await answer(
            "latchkey vault remove-slot two < /dev/tty", ("Remove the slot \"two\"?", "y\r"))
        #expect(gone.status == 0, "\(gone.errorText)")
        let (same, asked) = try await answer("latchkey vault remove-slot one --yes < /dev/tty")
        #expect(same.status == 0 && !asked.contains("Remove"), "\(same.errorText)")
    }
}
