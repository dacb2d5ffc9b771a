import Foundation
import Testing
import TestServices

/// Each helper with each store: at a terminal, without one, without standard input, with nothing stored, with much, and
/// where the store is locked. None asks anybody, and none waits.
@Suite struct HelperMatrixTests {
    /// A question of a tool's, what has to be stored for it, and the answer.
    struct Question: Sendable, CustomTestStringConvertible {
        let name: String
        let arguments: [String]
        let input: String
        let service: String
        let account: String
        let answer: String
        /// When there is nothing.
        let absence: (status: Int32, output: String, isSaid: Bool)

        var testDescription: String { name }
    }

    static let questions = [
        Question(
            name: "git-credential-latchkey", arguments: ["get"], input: "protocol=https\nhost=example.net\n\n",
            service: "git:https://example.net", account: "ada", answer: "username=ada\npassword=s3cret\n",
            absence: (0, "", false)),
        Question(
            name: "docker-credential-latchkey", arguments: ["get"], input: "https://example.net/v2/",
            service: "docker:example.net", account: "ada",
            answer: "{\"ServerURL\":\"https://example.net/v2/\",\"Username\":\"ada\",\"Secret\":\"s3cret\"}",
            absence: (1, "credentials not found in native keychain\n", false)),
        Question(
            name: "cargo-credential-latchkey", arguments: ["--cargo-plugin"],
            input:
                "{\"v\":1,\"kind\":\"get\",\"operation\":\"read\",\"registry\":{\"index-url\":\"sparse+https://example.net/\"}}\n",
            service: "cargo:sparse+https://example.net/", account: "token",
            answer:
                "{\"v\":[1]}\n{\"Ok\":{\"kind\":\"get\",\"token\":\"s3cret\",\"cache\":\"session\",\"operation_independent\":true}}\n",
            absence: (
                0,
                "{\"v\":[1]}\n{\"Err\":{\"kind\":\"not-found\",\"message\":\"no token is stored for this registry; run `cargo login`\",\"caused-by\":[]}}\n",
                false
            )),
        Question(
            name: "keyring", arguments: ["get", "--mode", "creds", "https://example.net/simple/package/"], input: "",
            service: "https://example.net/simple", account: "ada", answer: "ada\ns3cret\n", absence: (1, "", false)),
        Question(
            name: "latchkey-askpass", arguments: ["Enter passphrase for key '/home/ada/id': "], input: "",
            service: "ssh:/home/ada/id", account: "passphrase", answer: "s3cret\n", absence: (1, "", true)),
        Question(
            name: "latchkey", arguments: ["helper", "aws", "work"], input: "", service: "aws:work", account: "AKIA",
            answer: "{\"Version\":1,\"AccessKeyId\":\"AKIA\",\"SecretAccessKey\":\"s3cret\"}",
            absence: (1, "", true)),
        Question(
            name: "latchkey", arguments: ["helper", "go", "https://example.net/module"], input: "",
            service: "git:https://example.net", account: "ada",
            answer: "https://example.net\n\nAuthorization: Basic YWRhOnMzY3JldA==\n\n", absence: (0, "", false)),
    ]

    private func ask(
        _ question: Question, _ scene: HelperScene, _ environment: [String: String]? = nil
    ) async throws -> ProgramRun {
        try await Program(scene.directory / "bin/\(question.name)").run(
            question.arguments, environment: environment ?? scene.environment, input: Array(question.input.utf8))
    }

    private func check(_ run: ProgramRun, _ question: Question, isThere: Bool) {
        if isThere {
            #expect(
                run.status == 0 && run.outputText == question.answer, "\(question) \(run.outputText)\(run.errorText)")
            #expect(run.errorOutput.isEmpty, "\(question) \(run.errorText)")
        } else {
            #expect(run.status == question.absence.status && run.outputText == question.absence.output, "\(question)")
            #expect(run.errorOutput.isEmpty != question.absence.isSaid, "\(question) \(run.errorText)")
        }
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `each helper works with nothing, with something, at a terminal, and without standard input`(
        _ store: HelperScene.Store
    ) async throws {
        let scene = try await HelperScene(store)
        for question in Self.questions { check(try await ask(question, scene), question, isThere: false) }
        for question in Self.questions {
            try await scene.latchkey("set", question.service, question.account, input: "s3cret")
        }
        for question in Self.questions {
            check(try await ask(question, scene), question, isThere: true)

            let terminal = try PseudoTerminal()
            let running = try Program(scene.directory / "bin/\(question.name)").start(
                question.arguments, environment: scene.environment, terminal: terminal)
            running.send(Array(question.input.utf8))
            check(try await running.finish(), question, isThere: true)
            #expect(terminal.shown.isEmpty, "\(question) \(terminal.shown)")

            let closed = try await scene.shell(
                "program=$1; shift; \"$program\" \"$@\" <&-", [question.name] + question.arguments)
            if question.input.isEmpty {
                check(closed, question, isThere: true)
            } else {
                #expect(!closed.outputText.contains("s3cret"), "\(question)")
            }
        }
    }

    @Test func `each helper works beside ten thousand others in the vault`() async throws {
        let scene = try await HelperScene()
        try scene.directory.write(
            "many", (0..<10_000).map { "https://user\($0):p\($0)@host\($0 / 100).example\n" }.joined())
        try await scene.latchkey("import", "--from", "git", scene.directory / "many")
        try await checkAmongOthers(scene)
    }

    /// gnome-keyring takes minutes to make ten thousand, and half a minute to list them.
    @Test func `each helper works beside a thousand others in the keyring`() async throws {
        let scene = try await HelperScene(.secretService)
        try await Program("/usr/bin/python3").run(
            [HelperScene.fixture("fill_keyring.py"), "1000"], environment: scene.environment
        ).successful("fill_keyring.py")
        try await checkAmongOthers(scene, ["LATCHKEY_COLLECTION": "session"])
    }

    private func checkAmongOthers(_ scene: HelperScene, _ extra: [String: String] = [:]) async throws {
        let environment = scene.environment.merging(extra) { $1 }
        for question in Self.questions {
            check(try await ask(question, scene, environment), question, isThere: false)
            try await BuiltProducts.latchkey().run(
                ["set", question.service, question.account], environment: environment, input: Array("s3cret".utf8)
            ).successful("set")
            check(try await ask(question, scene, environment), question, isThere: true)
            try await BuiltProducts.latchkey().run(
                ["delete", question.service, question.account], environment: environment
            ).successful("delete")
        }
        let list = try await Program(scene.directory / "bin/docker-credential-latchkey").run(
            ["list"], environment: environment)
        #expect(list.status == 0 && list.outputText == "{}\n")
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `each helper reports a locked store in one line, and never asks, even at a terminal`(
        _ store: HelperScene.Store
    ) async throws {
        let scene = try await HelperScene(locked: store)
        for question in Self.questions {
            let terminal = try PseudoTerminal()
            let running = try Program(scene.directory / "bin/\(question.name)").start(
                question.arguments, environment: scene.environment, terminal: terminal)
            running.send(Array(question.input.utf8))
            let run = try await running.finish()
            let said = run.outputText + run.errorText
            #expect(said.contains("locked"), "\(question) \(said)")
            #expect(
                said.contains(store == .vault ? "vault unlock" : "gnome-keyring-daemon --replace"),
                "\(question) \(said)"
            )
            // cargo and docker are told on standard output; cargo's first line isn't ours to count.
            #expect(said.split(separator: "\n").count { !$0.hasPrefix("{\"v\"") } == 1, "\(question) \(said)")
            #expect(terminal.shown.isEmpty, "\(question) \(terminal.shown)")
        }
    }
}
