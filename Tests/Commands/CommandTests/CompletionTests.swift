import Foundation
import Testing
import TestServices

/// Completions in real shells: what a person types, a tab, and what came of it.
@Suite struct CompletionTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["PATH"] = try BuiltProducts.searchPath()
        environment["LATCHKEY_STORE"] = "vault"
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["TERM"] = "dumb"
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
        for (service, account) in [
            ("example.org", "alice"), ("git:https://host.example", "bob"), ("my service", "carol x"),
        ] {
            try await BuiltProducts.latchkey().run(
                ["set", service, account], environment: environment, input: Array("s3cret of \(account)".utf8)
            ).successful("set")
        }
        for shell in ["bash", "zsh", "fish"] {
            try directory.write(shell, try await run("completions", shell).successful(shell).output)
        }
    }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    private func candidates(_ words: String...) async throws -> [String] {
        let run = try await BuiltProducts.latchkey().run(["__complete"] + words, environment: environment)
        #expect(run.status == 0 && run.errorOutput.isEmpty)
        return run.outputText.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    }

    // MARK: - The call behind all of them

    @Test func `completion offers commands, options, fixed values, stores and files`() async throws {
        #expect(try await candidates("vault", "un") == ["unlock"])
        #expect(try await candidates("list", "--js") == ["--json"])
        #expect(try await candidates("list", "--log-level", "") == ["error", "warning", "info", "debug", "trace"])
        #expect(try await candidates("list", "--store=v") == ["--store=vault"])
        #expect(try await candidates("copy", "--from", "") == ["secret-service", "vault"])
        #expect(try await candidates("vault", "init", "--key-file", "") == [":files"])
        #expect(try await candidates("run", "work", "") == [":programs"])
        #expect(try await candidates("run", "--env", "A=a/b", "--", "") == [":programs"])
        #expect(try await candidates("run", "--env", "A=a/b", "--", "ls", "") == [":files"])
        #expect(try await candidates("run", "--env-file", "") == [":files"])
        #expect(try await candidates("completions", "") == ["bash", "zsh", "fish"])
        #expect(try await candidates("frobnicate", "").isEmpty)
    }

    @Test func `completion offers services, accounts and providers, and a provider's accounts`() async throws {
        #expect(try await candidates("get", "") == ["example.org", "git:https://host.example", "my service"])
        #expect(try await candidates("get", "my service", "") == ["carol x"])
        #expect(try await candidates("delete", "example.org", "b").isEmpty)
        #expect(try await candidates("sign-in", "g") == ["github", "gitlab", "gmail", "google"])
        #expect(try await candidates("token", "").isEmpty)
        let scene = try await RefreshScene()
        func offered(_ words: String...) async throws -> [String] {
            let run = try await BuiltProducts.latchkey().run(["__complete"] + words, environment: scene.environment)
            return run.outputText.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try await offered("token", "") == ["work"])
        #expect(try await offered("use", "work", "") == ["octocat"])
        #expect(try await offered("token", "work", "--account", "o") == ["octocat"])
        #expect(try await offered("get", "").isEmpty)
    }

    @Test func `completion doesn't ask, derive a key, change anything or show a secret`() async throws {
        var environment = environment
        environment["LATCHKEY_KEY_FILE"] = nil
        environment["LATCHKEY_VAULT"] = directory / "sealed"
        environment["LATCHKEY_PASSPHRASE_FILE"] = try directory.write("passphrase", "correct horse battery")
        let latchkey = try BuiltProducts.latchkey()
        try await PassphraseVault.make("correct horse battery".utf8, at: directory / "sealed", in: environment)
        try await latchkey.run(["set", "a", "b"], environment: environment, input: [0x78]).successful("set")
        let before = try directory.read("sealed")
        // A passphrase costs most of a second, and is a person's to give.
        for named in [environment["LATCHKEY_PASSPHRASE_FILE"], nil] {
            environment["LATCHKEY_PASSPHRASE_FILE"] = named
            let terminal = try PseudoTerminal()
            let running = try latchkey.start(["__complete", "get", ""], environment: environment, terminal: terminal)
            let run = try await running.finish()
            #expect(run.status == 0 && run.output.isEmpty && run.errorOutput.isEmpty)
            #expect(terminal.shown.isEmpty)
        }
        #expect(try directory.read("sealed") == before)
        let all = try await latchkey.run(["__complete", "get", "example.org", ""], environment: self.environment)
        #expect(all.outputText == "alice\t\n")
    }

    @Test func `an error is neither a candidate nor a message`() async throws {
        try directory.makeFolder("broken")
        try directory.write("broken/config", "nonsense")
        let run = try await BuiltProducts.latchkey().run(
            ["__complete", "get", ""],
            environment: environment.merging(["LATCHKEY_CONFIG": directory / "broken"]) { _, new in new })
        #expect(run.status == 0 && run.output.isEmpty && run.errorOutput.isEmpty)
    }

    // MARK: - Shells

    @Test(arguments: [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])])
    func `each shell reads its script`(_ shell: String, _ options: [String]) async throws {
        let run = try await Program(shell).run(options + [directory / shell], environment: environment)
        #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.errorText)")
    }

    /// What a person types at a shell's prompt: each line ends with a tab, and the shell's own end of the command.
    private func type(_ lines: [(keys: String, file: String)], at shell: String, _ setUp: String) async throws {
        let terminal = try PseudoTerminal()
        let options = shell == "bash" ? ["--norc", "--noprofile", "-i"] : ["-f", "-i"]
        var environment = environment
        environment["PS1"] = "ready> "
        let running = try Program(shell).start(
            options, environment: environment, folder: directory.path, terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitUntilShown("ready> ")
        terminal.type(setUp + "; echo set''up\n")
        try await terminal.waitUntilShown("setup")
        for (keys, file) in lines {
            terminal.type(keys + " > \(file).new; mv \(file).new \(file)\n")
            try await running.wait(for: "\(shell): \(keys); shown: \(terminal.shown)") {
                FileManager.default.fileExists(atPath: directory / file)
            }
        }
        terminal.type("exit\n")
        _ = try await running.finish()
    }

    private func text(_ file: String) throws -> String { String(decoding: try directory.read(file), as: UTF8.self) }

    private static let lines: [(keys: String, file: String)] = [
        ("latchkey vers\t", "version"), ("latchkey get exa\tal\t", "plain"),
        ("latchkey get git:ht\tb\t", "colons"), ("latchkey get my\tcar\t", "spaces"),
        ("latchkey list --store=va\t--js\t", "options"), ("latchkey vault verif\t", "words"),
    ]

    private func expectLines() throws {
        #expect(try text("version") == "latchkey 0.2.0\n")
        #expect(try text("plain") == "s3cret of alice")
        #expect(try text("colons") == "s3cret of bob")
        #expect(try text("spaces") == "s3cret of carol x")
        #expect(try text("options").hasPrefix("[\n  {"))
        #expect(try text("words").hasSuffix("3 credentials, all intact\n"))
    }

    @Test func `bash completes the typed words`() async throws {
        try await type(Self.lines, at: "bash", "source ./bash")
        try expectLines()
    }

    @Test func `zsh completes the typed words`() async throws {
        try await type(Self.lines, at: "zsh", "autoload -Uz compinit; compinit -u -D; source ./zsh")
        try expectLines()
    }

    /// Behind an open quote bash inserted a name as it is, so that `x$(touch f)` ran when Enter was typed.
    /// `completed_names.py` types at a terminal of its own, and knows nothing of the shells' functions.
    @Test(arguments: [
        ("bash", "source ../bash"), ("zsh", "autoload -Uz compinit; compinit -u -D; source ../zsh"),
        ("fish", "source ../fish"),
    ])
    func `a completed name of any punctuation is that name, bare and in quotes, and runs nothing`(
        _ shell: String, _ setUp: String
    ) async throws {
        var environment = environment
        environment["LC_ALL"] = "C.UTF-8"
        let typed = try await Program("/usr/bin/python3").run(
            [TestData.folder().path + "/completed_names.py", shell, setUp, "1", "14"], environment: environment,
            folder: try directory.makeFolder("typed"))
        #expect(typed.status == 0, "\(typed.outputText)\(typed.errorText)")
        #expect(typed.outputText.hasSuffix("14 names, 42 lines, 0 failed\n"))
    }

    @Test func `fish completes the typed words`() async throws {
        func complete(_ line: String) async throws -> [String] {
            let run = try await Program("fish").run(
                ["--no-config", "-c", "source ./fish; complete -C '\(line)'"], environment: environment,
                folder: directory.path)
            #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.errorText)")
            return run.outputText.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try await complete("latchkey vers") == ["version"])
        #expect(try await complete("latchkey get exa") == ["example.org"])
        #expect(try await complete("latchkey get git:ht") == ["git:https://host.example"])
        #expect(try await complete("latchkey get my\\ service ") == ["carol x"])
        #expect(try await complete("latchkey list --store=va") == ["--store=vault"])
        #expect(try await complete("latchkey vault init --key-file pass") == [])
        #expect(try await complete("latchkey vault init --key-file ke") == ["key"])
    }
}
