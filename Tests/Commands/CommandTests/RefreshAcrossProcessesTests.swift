import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// Eight processes with one session whose token has ended: one refresh, whatever becomes of the process that makes it.
@Suite struct RefreshAcrossProcessesTests {
    private let scene: RefreshScene
    private var directory: TestDirectory { scene.directory }
    private var server: LoopbackAuthorizationServer { scene.server }
    private var environment: [String: String] { scene.environment }
    private var vault: String { scene.vault }

    init() async throws { scene = try await RefreshScene() }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    private func ask(_ options: String...) throws -> RunningProgram {
        let program = try BuiltProducts.latchkey().start(
            ["request", "work", "GET", server.userInfoEndpoint, "--timeout", "120"] + options, environment: environment)
        program.closeInput()
        return program
    }

    private func count(_ endpoint: AuthorizationServerEndpoint) -> Int { server.record.requests[endpoint] ?? 0 }

    @Test func `eight processes make one refresh, and all get its token`() async throws {
        server.expireAccessTokens()
        let programs = try (0..<8).map { _ in try ask() }
        for program in programs {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(server.record.refreshes == 1 && server.record.replays == 0)
    }

    @Test func `a wait for another process's refresh is shown at a terminal, until it ends`() async throws {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let first = try ask()
        try await first.wait(for: "the refresh") { server.record.refreshes == 1 }
        let terminal = try PseudoTerminal()
        let second = try Program("/bin/sh").start(
            [
                "-c",
                "exec \(try BuiltProducts.latchkey().path) request work GET \(server.userInfoEndpoint) 2> /dev/tty",
            ], environment: environment, terminal: terminal)
        try await terminal.waitUntilShown(
            "latchkey: waiting for another process that uses latchkey:work/octocat (")
        server.switchOff(.heldResponse(.token))
        #expect(try await second.finish().status == 0)
        try await terminal.waitUntilShown("\r" + String(repeating: " ", count: 79) + "\r")
        #expect(try await first.finish().status == 0)
        #expect(server.record.refreshes == 1)
    }

    @Test func `a wait for another process's transaction is shown at a terminal, until it ends`() async throws {
        let writer = try await writerThatHoldsTheVault()
        let terminal = try PseudoTerminal()
        let latchkey = try BuiltProducts.latchkey().path
        let other = try Program("/bin/sh").start(
            ["-c", "exec \(latchkey) generate mail ada 2> /dev/tty"], environment: environment, terminal: terminal)
        try await terminal.waitUntilShown("latchkey: waiting for another process that uses the vault …")
        try await writer.finish()
        #expect(try await other.finish().status == 0)
        try await terminal.waitUntilShown("\r" + String(repeating: " ", count: 79) + "\r")
    }

    /// timeout(1) and shells send SIGTERM and SIGHUP twice.
    @Test(arguments: [[SIGINT], [SIGTERM, SIGTERM], [SIGHUP, SIGHUP]])
    func `a signal in the middle of a refresh loses nothing, and the other processes continue with it`(
        signals: [Int32]
    ) async throws {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let questions = count(.userInfo)
        let first = try ask("--log-level", "debug")
        try await first.wait(for: "the refresh") { server.record.refreshes == 1 }
        let others = try (0..<7).map { _ in try ask() }
        try await others[6].wait(for: "the others' refusals") { count(.userInfo) >= questions + 8 }
        for number in signals {
            first.signal(number)
            try await first.waitUntilAskedToStop()
        }
        server.switchOff(.heldResponse(.token))
        #expect(try await first.finish().status == 128 + signals[0])
        for program in others {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(server.record.refreshes == 1 && server.record.replays == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal in the middle of an exchange leaves no token, here or at the server`(number: Int32) async throws {
        try await run("sign-out", "work").successful("sign-out")
        let (codes, revocations) = (server.record.codesExchanged, server.record.revocations)
        server.switchOn(.heldResponse(.token))
        let program = try BuiltProducts.latchkey().start(
            ["sign-in", "work", "--log-level", "debug"], environment: environment)
        program.closeInput()
        try await program.wait(for: "the exchange") { server.record.codesExchanged > codes }
        program.signal(number)
        try await program.waitUntilAskedToStop()
        server.switchOff(.heldResponse(.token))
        let ended = try await program.finish()
        #expect(ended.status == 128 + number && ended.errorText.contains("[sign-in.cancelled]"), "\(ended.errorText)")
        #expect(server.record.revocations == revocations + 1)
        #expect(try await run("accounts").outputText == "")
    }

    @Test func `a signal that the process's starter has it ignore stays ignored`() async throws {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let program = try Program("env").start(
            [
                "--ignore-signal=HUP", try BuiltProducts.latchkey().path, "request", "work", "GET",
                server.userInfoEndpoint,
            ], environment: environment)
        program.closeInput()
        try await program.wait(for: "the refresh") { server.record.refreshes == 1 }
        program.signal(SIGHUP)
        server.switchOff(.heldResponse(.token))
        let run = try await program.finish()
        #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
    }

    @Test func `a process that is killed before it has sent anything costs nothing`() async throws {
        server.expireAccessTokens()
        // The server's metadata is requested with the lease in hand.
        server.switchOn(.held(.metadata))
        let asked = count(.metadata)
        let first = try ask()
        try await first.wait(for: "the lease") { count(.metadata) > asked }
        let others = try (0..<7).map { _ in try ask() }
        first.signal(SIGKILL)
        _ = try await first.finish()
        server.switchOff(.held(.metadata))
        for program in others {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(server.record.refreshes == 1 && server.record.replays == 0)
    }

    @Test func `a process that is killed before the server has acted costs nothing`() async throws {
        server.expireAccessTokens()
        server.switchOn(.held(.token))
        server.switchOn(.status(503, .token))
        let refreshes = count(.token)
        let first = try ask()
        try await first.wait(for: "the request") { count(.token) > refreshes }
        first.signal(SIGKILL)
        _ = try await first.finish()
        server.switchOffAllFaults()
        try await expectAnswers(of: (0..<7).map { _ in try ask() })
    }

    /// The command that a person or a script knows, and kills, is not the process that refreshes.
    @Test func `a command that is killed while the server responds costs nothing`() async throws {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let first = try ask()
        try await first.wait(for: "the server's refresh") { server.record.refreshes == 1 }
        first.killAlone()
        #expect(try await first.finish().status == 128 + SIGKILL)
        let others = try (0..<7).map { _ in try ask() }
        server.switchOff(.heldResponse(.token))
        try await expectAnswers(of: others)
    }

    /// 20 kills, 2,000 at night.
    @Test func `a command that is killed at any moment costs nothing`() async throws {
        // Their workers go on as long as these are here.
        var killed: [RunningProgram] = []
        // On a busy machine, or with a sanitizer, none of them comes to its refresh so soon.
        for latest in [150, 1500, 15_000] where server.record.refreshes < 2 {
            for _ in 0..<(runsLong ? 2_000 : 20) {
                server.expireAccessTokens()
                let program = try ask()
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...latest)))
                program.killAlone()
                _ = try await program.finish()
                killed = killed.suffix(100) + [program]
            }
        }
        let run = try await ask().finish()
        #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        #expect(server.record.refreshes > 1 && server.record.replays == 0)
    }

    @Test func `a command that is killed before the store has the response costs nothing, and its worker ends`()
        async throws
    {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let first = try ask("--log-level", "debug")
        try await first.wait(for: "the server's refresh") { server.record.refreshes == 1 }
        let worker = first.workingPID
        #expect(worker != first.pid)
        let writer = try await writerThatHoldsTheVault()
        server.switchOff(.heldResponse(.token))
        let responded = "POST \(server.tokenEndpoint): status 200"
        try await first.wait(for: "the response") { first.errorsSoFar.contains(responded) }
        first.killAlone()
        _ = try await first.finish()
        let others = try (0..<7).map { _ in try ask() }
        try await writer.finish()
        try await expectAnswers(of: others)
        // It asks the server for nothing more.
        try await waitForEnd(of: worker)
    }

    @Test func `a command whose starter ignores its children's end ends like its worker`() async throws {
        let latchkey = try BuiltProducts.latchkey().path
        let run = try await Program("sh").run(
            ["-c", "trap '' CHLD; exec \(latchkey) token work --account nobody"], environment: environment)
        #expect(run.status == 1, "\(run.errorText)")
    }

    @Test func `a command that is killed while a person is away leaves no process waiting`() async throws {
        let seen = directory / "seen"
        var environment = environment
        environment["BROWSER"] = try directory.write("idle-browser", "#!/bin/sh\n: > \(seen)\n", mode: 0o700)
        let signIn = try BuiltProducts.latchkey().start(["sign-in", "work"], environment: environment)
        try await signIn.wait(for: "the browser") { FileManager.default.fileExists(atPath: seen) }
        let worker = signIn.workingPID
        #expect(worker != signIn.pid)
        signIn.killAlone()
        _ = try await signIn.finish()
        try await waitForEnd(of: worker)
    }

    /// The kernel tells only of an end that is still to come: a worker that came too late to ask would work on for
    /// nobody.
    @Test func `a worker whose starter ended early ends too`() async throws {
        let latchkey = try BuiltProducts.latchkey().path
        func run(starter: String) async throws -> ProgramRun {
            try await Program("bash").run(
                ["-c", "(exec -a \"latchkey-worker \(starter)\" '\(latchkey)' accounts); exit $?"],
                environment: environment)
        }
        #expect(try await run(starter: "1").status == 128 + SIGTERM)
        #expect(try await run(starter: "$$").status == 0)
    }

    private func waitForEnd(of process: Int32) async throws {
        // Whoever inherits it may not have asked for its status yet.
        while let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            !status.contains(") Z ")
        {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func expectAnswers(of others: [RunningProgram]) async throws {
        for program in others {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(server.record.refreshes == 1 && server.record.replays == 0)
    }

    /// Nobody can write to the vault until it ends.
    private func writerThatHoldsTheVault() async throws -> RunningProgram {
        let writer = try Program("sqlite3").start([vault], environment: environment)
        writer.type("BEGIN IMMEDIATE;\nSELECT 'locked';\n")
        try await writer.wait(for: "the vault") { writer.outputSoFar.contains("locked") }
        return writer
    }

    /// The limit of what a client can do, when all its processes are killed at once: the server has spent the old
    /// token, and the new one died with them. What is left is to say so, and that nobody has a token of that family any
    /// more.
    @Test
    func `a command that is killed with its worker before the response costs the session, and the next one says so`()
        async throws
    {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let first = try ask()
        try await first.wait(for: "the server's refresh") { server.record.refreshes == 1 }
        first.signal(SIGKILL)
        _ = try await first.finish()
        server.switchOff(.heldResponse(.token))
        try await expectLost()
    }

    @Test func `a command that is killed with its worker before the store has the response costs the session too`()
        async throws
    {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let first = try ask("--log-level", "debug")
        try await first.wait(for: "the server's refresh") { server.record.refreshes == 1 }
        let writer = try await writerThatHoldsTheVault()
        server.switchOff(.heldResponse(.token))
        let responded = "POST \(server.tokenEndpoint): status 200"
        try await first.wait(for: "the response") { first.errorsSoFar.contains(responded) }
        first.signal(SIGKILL)
        _ = try await first.finish()
        try await writer.finish()
        try await expectLost()
    }

    private func expectLost() async throws {
        let run = try await ask().finish()
        #expect(run.status == 77, "\(run.errorText)")
        #expect(
            run.errorText.contains("[sign-in.refresh-lost]")
                && run.errorText.contains("hint: run `latchkey sign-in work"))
        #expect(server.record.refreshes == 1 && server.record.replays == 1)
        // It is told again until the person signs in, which is the cure.
        let next = try await ask().finish()
        #expect(next.status == 77 && next.errorText.contains("[sign-in.session-ended]"), "\(next.errorText)")
        try await self.run("sign-in", "work").successful("sign-in")
        #expect(try await ask().finish().status == 0)
    }

    @Test func `a process that is killed when the store has the new session costs nothing`() async throws {
        server.expireAccessTokens()
        server.switchOn(.heldResponse(.token))
        let first = try ask()
        try await first.wait(for: "the server's refresh") { server.record.refreshes == 1 }
        let questions = count(.userInfo)
        server.switchOn(.held(.userInfo))
        server.switchOff(.heldResponse(.token))
        try await first.wait(for: "the request with the new token") { count(.userInfo) > questions }
        first.signal(SIGKILL)
        _ = try await first.finish()
        server.switchOffAllFaults()
        try await expectAnswers(of: (0..<7).map { _ in try ask() })
    }

    @Test func `a process that is killed while it waits for its turn delays no other process`() async throws {
        server.expireAccessTokens()
        server.switchOn(.slow(.seconds(2), .token))
        let (questions, refreshes) = (count(.userInfo), count(.token))
        let first = try ask()
        try await first.wait(for: "the refresh") { count(.token) > refreshes }
        let others = try (0..<7).map { _ in try ask() }
        try await others[6].wait(for: "the others' refusals") { count(.userInfo) >= questions + 8 }
        others[0].signal(SIGKILL)
        others[1].signal(SIGKILL)
        for program in others.prefix(2) { _ = try await program.finish() }
        for program in [first] + others.dropFirst(2) {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(server.record.refreshes == 1 && server.record.replays == 0)
    }
}

extension RunningProgram {
    /// A signal goes from the process that was started to its worker, and there to the task: it may be on its way for
    /// longer than the server's response. The worker's own word is what tells that it came.
    fileprivate func waitUntilAskedToStop() async throws {
        try await wait(for: "its word on the signal") { errorsSoFar.contains("stopping after the current step") }
    }
}
