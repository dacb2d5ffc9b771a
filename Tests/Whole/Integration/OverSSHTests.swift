import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// What a person does on another machine, through a real ssh and a real sshd: this machine, in a session that knows so.
@Suite struct OverSSHTests {
    private let machine: SecureShellServer

    init() async throws {
        machine = try await SecureShellServer()
    }

    /// Who leads the session on the server: the kernel tells nobody else that its terminal is gone.
    enum Leader: String, CaseIterable { case command, shell }

    /// Without a browser, and with a server that has a device grant or not.
    private static func session(_ flow: SignInFlow) async throws -> FlowSession {
        let session = try await FlowSession(flow, .vault)
        // It tells its process. What the command has to say when the terminal is gone goes to a file.
        for leader in Leader.allCases {
            try session.directory.write(
                leader.rawValue,
                """
                #!/bin/sh
                cd '\(session.directory.path)'
                echo $$ > leader.new; mv leader.new leader
                [ -n "$ERRORS" ] && exec 2> "$ERRORS"
                \(leader == .command ? "exec" : "") '\(BuiltProducts.latchkey().path)' "$@"
                exit $?

                """, mode: 0o700)
        }
        return session
    }

    private func start(
        _ arguments: [String], in session: FlowSession, at terminal: PseudoTerminal? = nil, browser: String? = nil,
        forwarding: String? = nil, leader: Leader = .command, errors: String? = nil
    ) throws -> RunningProgram {
        var environment = session.environment
        environment["BROWSER"] = browser
        environment["ERRORS"] = errors
        return try machine.start(
            session.directory / leader.rawValue, arguments, environment: environment, terminal: terminal,
            forwarding: forwarding)
    }

    @discardableResult
    private func run(
        _ arguments: [String], in session: FlowSession, expecting status: Int32 = 0, isSecret: Bool = false
    ) async throws -> ProgramRun {
        let run = try await start(session.logging() + arguments, in: session).finish()
        try session.note(run, arguments, isSecret: isSecret)
        #expect(run.status == status, "\(arguments): \(run.errorText)\n\(machine.log)")
        return run
    }

    /// Where the server's page was shown to lie.
    private static func address(_ terminal: PseudoTerminal, _ running: RunningProgram) async throws -> String {
        try await terminal.waitForQuestion("Address (it stays hidden)", from: running)
        return try #require(terminal.shown.firstMatch(of: /http:\/\/[^\s]*code_challenge[^\s]*/)).output.description
    }

    /// What a browser elsewhere does with it: curl's words on standard output.
    private static func browse(_ address: String, _ options: String...) async throws -> String {
        try await Program("curl").run(
            ["--silent", "--noproxy", "*", "--output", "/dev/null"] + options + [address]
        ).successful("curl").outputText
    }

    // MARK: - The way that is chosen

    @Test func `a person signs in with a code at the terminal, works with it, and signs out everywhere`() async throws {
        let session = try await Self.session(.device)
        let terminal = try PseudoTerminal()
        let running = try start(["sign-in", "work"], in: session, at: terminal)
        try await session.attend(terminal, running)
        #expect(try await running.finish().status == 0, "\(terminal.shown)\n\(machine.log)")
        try await terminal.waitUntilShown("latchkey: signed in at work as octocat")
        #expect(terminal.shown.contains("signing in on another device, because no display is available"))

        #expect(try await run(["accounts"], in: session).outputText.contains("octocat"))
        let token = try await run(["token", "work"], in: session, isSecret: true).output
        #expect(session.secrets().contains { $0.name == "access_token" && $0.bytes == token })
        #expect(try await run(session.request, in: session).outputText.contains("octocat"))
        let child = ["run", "work", "--env", "TOKEN", "--", "sh", "-c", "printf %s \"${#TOKEN}\""]
        #expect(try await run(child, in: session).outputText == "\(token.count)")
        let out = try await run(["sign-out", "work", "--everywhere"], in: session)
        #expect(out.errorText.contains("the tokens were revoked; the session was deleted"))
        #expect(try await run(["accounts"], in: session).output.isEmpty)
    }

    @Test func `without a device grant, ssh signs in by paste`() async throws {
        let session = try await Self.session(.browser)
        let terminal = try PseudoTerminal()
        let pasting = try start(["sign-in", "work", "--account", "pasted"], in: session, at: terminal)
        let page = try await Self.address(terminal, pasting)
        #expect(terminal.shown.contains("because no display is available and the server doesn't support device codes"))
        terminal.type(try await Self.browse(page, "--write-out", "%{redirect_url}") + "\n")
        #expect(try await pasting.finish().status == 0, "\(terminal.shown)")

        #expect(try await session.run(["accounts"]).outputText.contains("pasted"))
    }

    // A server with a device grant got that, and the port was forwarded for nothing.
    @Test func `Latchkey listens at a redirect URI that is set, so ssh can forward its port`() async throws {
        let session = try await Self.session(.device)
        // The person's machine is 127.0.0.2 here: ssh listens there, and sshd connects to the receiver as the person.
        let second = try PseudoTerminal()
        let port = try LoopbackPort.free()
        let forwarded = try start(
            ["sign-in", "work", "--account", "forwarded", "--redirect", "http://127.0.0.1:\(port)/callback"],
            in: session, at: second, forwarding: "127.0.0.2:\(port):127.0.0.1:\(port)")
        let status = try await Self.browse(
            Self.address(second, forwarded), "--location", "--connect-to", "127.0.0.1:\(port):127.0.0.2:\(port)",
            "--write-out", "%{http_code}")
        #expect(status == "200")
        #expect(try await forwarded.finish().status == 0, "\(second.shown)")
        #expect(second.shown.contains("because no display is available and a redirect URI is set"))
        #expect(try await session.run(["accounts"]).outputText.contains("forwarded"))
    }

    @Test func `without a terminal Latchkey can't prompt, and the hint says how to get one`() async throws {
        let session = try await Self.session(.device)
        for way in [[], ["--paste"]] {
            let run = try await run(["sign-in", "work"] + way, in: session, expecting: 69)
            #expect(
                run.errorText.contains("hint: run the command at a terminal (`ssh -t`, `podman run -it`)"),
                "\(run.errorText)")
        }
        #expect(session.server.record.requests[.token] == nil)
        // A code for another device needs nobody here to answer.
        let run = try await run(["sign-in", "work", "--device", "--timeout", "6"], in: session, expecting: 75)
        #expect(
            run.errorText.contains(
                /latchkey: on any device, open http\S+ and enter the code in the next line\n[A-Z]{4}-/))
    }

    @Test func `the countdown ends with the command, not with the code's expiry`() async throws {
        let session = try await Self.session(.device)
        let terminal = try PseudoTerminal()
        let running = try start(["sign-in", "work", "--timeout", "6"], in: session, at: terminal)
        #expect(try await running.finish().status == 75, "\(terminal.shown)\n\(machine.log)")
        try await terminal.waitUntilShown("the sign-in was not confirmed in time")
        #expect(terminal.shown.contains("Waiting for you; this ends in 0:0"))
        #expect(!terminal.shown.contains("the code is good for"))
    }

    // MARK: - An end in the midst

    enum Moment: CaseIterable { case paste, countdown, browser }

    /// The command's processes at a moment when it waits for the person.
    private func waiting(
        _ moment: Moment, in session: FlowSession, at terminal: PseudoTerminal, leader: Leader
    ) async throws -> (RunningProgram, [Int32]) {
        var browser: String?
        if moment == .browser {
            browser = try session.directory.write(
                "waits", "#!/bin/sh\n: > seen\nwhile [ -e '\(session.directory.path)' ]; do sleep 0.2; done\n",
                mode: 0o700)
        }
        let options = moment == .paste ? ["--paste"] : moment == .browser ? ["--browser"] : []
        let running = try start(
            ["sign-in", "work"] + options, in: session, at: terminal, browser: browser, leader: leader,
            errors: "errors")
        switch moment {
        case .paste: try await terminal.waitUntilShown("Address (it stays hidden)")
        case .countdown: try await terminal.waitUntilShown("Control-C to give up.")
        case .browser:
            try await running.wait(for: "the browser") {
                FileManager.default.fileExists(atPath: session.directory / "seen")
            }
        }
        let text = String(decoding: try session.directory.read("leader"), as: UTF8.self)
        var processes = [try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))]
        while let child = Self.child(of: processes[processes.count - 1]) { processes.append(child) }
        // Of the shell, the command and its worker: what a browser is started with is no child any more.
        #expect(processes.count == (leader == .shell ? 3 : 2))
        return (running, processes)
    }

    private static func child(of pid: Int32) -> Int32? {
        let children = try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        return (children ?? "").split(separator: " ").compactMap { Int32($0) }.first { child in
            let name = try? String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8)
            return name?.hasPrefix("latchkey") == true
        }
    }

    /// Whether a process has ended; somebody may still have to ask for its status.
    private static func hasEnded(_ pid: Int32) -> Bool {
        guard let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
        return state.split(separator: ")").last?.hasPrefix(" Z") == true
    }

    /// The command said why it ended, nothing of it runs, and nothing was kept.
    private func expectEnd(
        of processes: [Int32], in session: FlowSession, saying last: some RegexComponent
    ) async throws {
        let limit = ContinuousClock.now + .seconds(120)
        while !processes.allSatisfy(Self.hasEnded) {
            guard ContinuousClock.now < limit else { throw ServiceFailure("it never ended\n\(machine.log)") }
            try await Task.sleep(for: .milliseconds(20))
        }
        let errors = String(decoding: try session.directory.read("errors"), as: UTF8.self)
        #expect(errors.split(separator: "\n").last?.wholeMatch(of: last) != nil, "\(errors)")
        #expect(try await session.run(["accounts"]).output.isEmpty)
        #expect(try await session.run(["list", "--all"]).output.isEmpty)
        #expect(session.server.record.codesExchanged == 0)
    }

    // Where the command led its session, it went on for ten minutes: the kernel told it, and it didn't tell its worker.
    @Test(arguments: Moment.allCases, Leader.allCases)
    func `a lost connection ends the command in order and leaves nothing`(
        moment: Moment, leader: Leader
    ) async throws {
        let session = try await Self.session(.device)
        let (client, processes) = try await waiting(moment, in: session, at: PseudoTerminal(), leader: leader)
        client.kill()
        // A question's end may be noticed before the signal.
        try await expectEnd(
            of: processes, in: session,
            saying:
                /latchkey: error: (the operation was interrupted \[sign-in.cancelled\]|the sign-in was cancelled \[sign-in.user-cancelled\])/
        )
    }

    @Test(arguments: Moment.allCases)
    func `Control-C reaches the command, and the terminal is restored`(moment: Moment) async throws {
        let session = try await Self.session(.device)
        let terminal = try PseudoTerminal()
        let (client, processes) = try await waiting(moment, in: session, at: terminal, leader: .command)
        terminal.type("\u{3}")
        // 255 is ssh's for a command that ended by a signal, as this one does if the question has read the key.
        #expect(try await [130, 255].contains(client.finish().status), "\(terminal.shown)")
        #expect(terminal.echoes)
        try await expectEnd(
            of: processes, in: session, saying: /latchkey: error: the operation was interrupted \[sign-in.cancelled\]/)
    }
}
