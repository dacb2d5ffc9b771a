import Foundation
import Testing
import TestServices

/// `run` from outside: beside a provider's token, with one passphrase, and what others see of it.
@Suite struct RunWithTokenTests {
    private func save(_ secret: String, _ service: String, _ environment: [String: String]) async throws {
        try await BuiltProducts.latchkey().run(
            ["set", service, "ada"], environment: environment, input: Array(secret.utf8)
        ).successful("set")
    }

    @Test func `a provider's token and stored secrets go to one program`() async throws {
        let scene = try await RefreshScene()
        try await save("hunter2secret", "example.org", scene.environment)
        let token = try await scene.run("token", "work").successful("token").outputText
        let script = "echo $LATCHKEY_TOKEN $TOKEN $A; test -z \"$F\" || cat $F"
        let first = try await scene.run(
            "run", "work", "--env", "A=example.org/ada", "--file", "F=example.org/ada", "--", "sh", "-c", script)
        #expect(first.outputText == "\(token) hunter2secret\nhunter2secret", "\(first.errorText)")
        let named = try await scene.run(
            "run", "--env", "A=example.org/ada", "work", "--env", "TOKEN", "--", "sh", "-c", script)
        #expect(named.outputText == "\(token) hunter2secret\n", "\(named.errorText)")
        // As it has always been.
        for words in [["work", "sh"], ["work", "--", "sh"]] {
            let run = try await BuiltProducts.latchkey().run(
                ["run"] + words + ["-c", script], environment: scene.environment)
            #expect(run.outputText == "\(token)\n", "\(words) \(run.errorText)")
        }
        // What stands behind -- is the program, even where it has a provider's name.
        let program = try await scene.run("run", "--", "work", "sh", "-c", script)
        #expect(
            program.status == 64 && program.output.isEmpty
                && program.errorText.contains("run needs a secret for the program"))
        try scene.directory.write(".env", "LATCHKEY_TOKEN=plain\nTOKEN=plain\n")
        let file = try await scene.run(
            "run", "work", "--env-file", scene.directory / ".env", "--mask", "--", "sh", "-c", script)
        #expect(file.outputText == "*** plain\n", "\(file.errorText)")
        let replaced = try await scene.run(
            "run", "work", "--env", "LATCHKEY_TOKEN=example.org/ada", "--", "sh", "-c", script)
        #expect(replaced.outputText == "hunter2secret\n", "\(replaced.errorText)")
        let absent = try await scene.run(
            "run", "work", "--env", "A=example.org/bob", "--", "touch", scene.directory / "started")
        #expect(absent.status == 1 && absent.errorText.contains("[credential.not-found]"))
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "started"))
    }

    /// The worker got SIGTERM and passed it on, and a program that ignores that went on with the token.
    @Test func `with a provider, too, a killed latchkey takes a masked program with it`() async throws {
        let scene = try await RefreshScene()
        let script = "trap '' TERM; echo $$ > \(scene.directory / "number"); echo waiting; while :; do sleep 1; done"
        let running = try BuiltProducts.latchkey().start(
            ["run", "work", "--mask", "--", "sh", "-c", script], environment: scene.environment)
        try await running.wait(for: "the program") { running.outputSoFar.contains("waiting") }
        let text = String(decoding: try scene.directory.read("number"), as: UTF8.self)
        let number = try #require(Int32(text.dropLast()))
        running.killAlone()
        #expect(try await running.finish().status == 137)
        for _ in 0..<6000 where kill(number, 0) == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(kill(number, 0) != 0)
    }

    @Test(arguments: [nil, SIGTERM, SIGINT])
    func `with a provider, too, a masked program gets keys and signals, and the terminal is as it was`(
        _ number: Int32?
    ) async throws {
        let scene = try await RefreshScene()
        let terminal = try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            ["run", "work", "--mask", "--", "sh", "-c", "echo waiting $LATCHKEY_TOKEN; exec sleep 1000"],
            environment: scene.environment, terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitUntilShown("waiting ***\r\n")
        if let number { kill(running.pid, number) } else { terminal.type("\u{3}") }
        #expect(try await running.finish().status == 128 + (number ?? SIGINT))
        #expect(terminal.echoes && terminal.sendsSignals)
    }

    @Test func `with a provider and stored secrets a passphrase is asked for once, before the program starts`()
        async throws
    {
        let scene = try await RefreshScene(signsIn: false)
        var environment = scene.environment
        environment["LATCHKEY_KEY_FILE"] = nil
        environment["LATCHKEY_VAULT"] = scene.directory / "other"
        try await PassphraseVault.make(
            "a passphrase of several words".utf8, at: scene.directory / "other", in: environment)
        let passphrase = try scene.directory.write("passphrase", "a passphrase of several words\n")
        var withFile = environment
        withFile["LATCHKEY_PASSPHRASE_FILE"] = passphrase
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["sign-in", "work"], environment: withFile).successful("sign-in")
        try await save("hunter2secret", "example.org", withFile)
        try scene.directory.write(".env", "B=latchkey://example.org/ada\n")
        for provider in [[], ["work"]] {
            let terminal = try PseudoTerminal()
            let running = try latchkey.start(
                ["run"] + provider + ["--env-file", scene.directory / ".env", "--env", "A=example.org/ada"]
                    + [
                        "--file", "F=example.org/ada", "--", "sh", "-c",
                        "stty -a | grep -o ' echo '; echo $A$B; cat $F",
                    ],
                environment: environment, terminal: terminal, streamsOnTerminal: true)
            try await terminal.waitForQuestion("Passphrase of the vault", from: running)
            terminal.type("a passphrase of several words\r")
            #expect(try await running.finish().status == 0, "\(terminal.shown)")
            try await terminal.waitUntilShown(" echo \r\nhunter2secrethunter2secret\r\nhunter2secret")
            #expect(terminal.shown.components(separatedBy: "Passphrase of the vault").count == 2)
        }
        // Without a terminal nothing is asked, and nothing is started.
        let locked = try await latchkey.run(
            ["run", "--env", "A=example.org/ada", "--", "echo", "started"], environment: environment)
        #expect(locked.status == 77 && locked.output.isEmpty, "\(locked.errorText)")
    }

    /// While the program runs, latchkey itself is still there: nothing of it shows the secret.
    @Test func `other processes see no secret of a masked run, and no core can be left`() async throws {
        let scene = try await RefreshScene()
        try await save("hunter2secret", "example.org", scene.environment)
        for provider in [[], ["work"]] {
            let token = try await scene.run("token", "work").successful("token").outputText
            let running = try BuiltProducts.latchkey().start(
                ["run"] + provider + ["--mask", "--env", "A=example.org/ada", "--file", "F=example.org/ada", "--"]
                    + ["sh", "-c", "echo waiting $A; read line; echo $line"], environment: scene.environment)
            try await running.wait(for: "the program") { running.outputSoFar.contains("waiting") }
            for name in ["environ", "cmdline", "comm", "limits"] {
                // One that isn't dumpable is root's alone.
                let bytes = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(running.pid)/\(name)"))) ?? Data()
                #expect(bytes.range(of: Data("hunter2secret".utf8)) == nil && bytes.range(of: Data(token.utf8)) == nil)
                if name == "limits" {
                    #expect(String(decoding: bytes, as: UTF8.self).contains(#/Max core file size +0 +0 /#))
                }
            }
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(running.pid)/mem")[.ownerAccountID]
            #expect(owner as? Int == 0)
            running.type("done\n")
            running.closeInput()
            let run = try await running.finish()
            #expect(run.outputText == "waiting ***\ndone\n", "\(run.errorText)")
        }
    }

    @Test func `a program doesn't inherit latchkey's descriptors, and can get other rights`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", directory / "key"], environment: environment
        )
        .successful("vault init")
        try await save("hunter2secret", "example.org", environment)
        let script = """
            cd /proc/self/fd; for name in *; do test -e $name && echo $name; done
            grep -e NoNewPrivs -e SigBlk -e SigIgn /proc/self/status | sed 's/SigIgn:.*\\(.......\\)$/\\1/'
            """
        let bare = try await Program("sh").run(["-c", script], environment: environment)
        for extra in [[], ["--mask"]] {
            let run = try await BuiltProducts.latchkey().run(
                ["run", "--env", "A=example.org/ada"] + extra + ["--", "sh", "-c", script], environment: environment)
            #expect(run.outputText == bare.outputText, "\(extra)")
        }
    }
}
