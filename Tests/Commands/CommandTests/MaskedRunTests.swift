import Foundation
import Testing
import TestServices

/// `run --mask` at a terminal: the program has one of its own, and a person notices nothing but the replaced secrets.
@Suite struct MaskedRunTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["TERM"] = "xterm"
        self.environment = environment
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("vault init")
        try await latchkey.run(
            ["set", "example.org", "ada"], environment: environment, input: Array("hunter2secret".utf8)
        ).successful("set")
    }

    private static let masked = ["run", "--mask", "--env", "A=example.org/ada", "--"]

    private func start(_ script: String, _ terminal: PseudoTerminal) throws -> RunningProgram {
        try BuiltProducts.latchkey().start(
            Self.masked + ["sh", "-c", script], environment: environment, terminal: terminal, streamsOnTerminal: true)
    }

    /// A shell at the terminal, in which `masked` runs a command line with `--mask`.
    private func startShell(_ terminal: PseudoTerminal) async throws -> RunningProgram {
        try directory.write(
            "masked",
            "#!/bin/sh\nexec \(BuiltProducts.latchkey().path) \(Self.masked.joined(separator: " ")) \"$@\"\n",
            mode: 0o700)
        var environment = environment
        environment["PATH"] = directory.path + ":" + Program.searchPath
        environment["PS1"] = "ready> "
        let running = try Program("bash").start(
            ["--norc", "--noprofile", "--noediting", "-i"], environment: environment, terminal: terminal,
            streamsOnTerminal: true)
        try await terminal.waitUntilShown("ready> ")
        return running
    }

    /// Types a command line once the shell waits for one. Before, what is typed would be shown in front of the prompt.
    private func enter(_ line: String, _ terminal: PseudoTerminal, _ shell: RunningProgram) async throws {
        try await shell.wait(for: "a prompt; shown: \(terminal.shown)") { terminal.shown.hasSuffix("ready> ") }
        terminal.type(line + "\r")
    }

    @Test func `the program has a terminal of the same size for all its streams, and no secret is shown by any way`()
        async throws
    {
        let terminal = try PseudoTerminal()
        terminal.resize(columns: 71, rows: 23)
        let running = try start(
            """
            test -t 0 && test -t 1 && test -t 2 && stty size && tty
            echo "out $A"; echo "err $A" >&2; echo "tty $A" > /dev/tty; echo "in $A" >&0
            """, terminal)
        #expect(try await running.finish().status == 0)
        try await terminal.waitUntilShown("in ***\r\n")
        let lines = terminal.shown.split(separator: "\r\n")
        #expect(
            lines.first == "23 71" && lines.dropFirst(2) == ["out ***", "err ***", "tty ***", "in ***"], "\(lines)")
        #expect(lines[1].hasPrefix("/dev/pts/") && lines[1] != terminal.path)
        #expect(terminal.echoes && terminal.sendsSignals)
    }

    /// It can be run for all that this process sees; only the monitor learns that it can't.
    @Test func `a program that can't be started leaves the terminal as it was`() async throws {
        let terminal = try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            Self.masked + [directory.path], environment: environment, terminal: terminal, streamsOnTerminal: true)
        #expect(try await running.finish().status == 126)
        #expect(terminal.echoes && terminal.sendsSignals)
    }

    @Test func `a new size reaches the program`() async throws {
        let terminal = try PseudoTerminal()
        terminal.resize(columns: 80, rows: 24)
        let running = try start("trap 'stty size' WINCH; echo waiting; read line; echo got $line", terminal)
        try await terminal.waitUntilShown("waiting")
        terminal.resize(columns: 132, rows: 43)
        try await terminal.waitUntilShown("43 132")
        terminal.type("on\r")
        _ = try await running.finish()
        try await terminal.waitUntilShown("got")
        #expect(terminal.echoes)
    }

    @Test func `a question is visible, and the typed answer is hidden if the program hides it`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start(
            "printf 'Name: '; read name; stty -echo; printf 'Word hunt'; read word; stty echo; echo; echo $name:$word:$A",
            terminal)
        try await terminal.waitUntilShown("Name: ")
        terminal.type("ada\r")
        // The beginning of the secret: shown although nothing follows.
        try await terminal.waitUntilShown("Word hunt")
        terminal.type("swordfish\r")
        #expect(try await running.finish().status == 0)
        try await terminal.waitUntilShown("ada:swordfish:***\r\n")
        #expect(terminal.shown.components(separatedBy: "swordfish").count == 2, "\(terminal.shown)")
    }

    /// Such as the trace that bash writes to BASH_XTRACEFD.
    @Test func `a second descriptor of the output is masked too`() async throws {
        let run = try await Program("bash").run(
            ["-c", "exec 9>&1 8>&2; \"$@\"", "bash", BuiltProducts.latchkey().path] + Self.masked
                + ["sh", "-c", "echo nine $A >&9; echo eight $A >&8"],
            environment: environment)
        #expect(run.outputText == "nine ***\n" && run.errorText == "eight ***\n", "\(run.outputText) \(run.errorText)")
    }

    @Test func `a secret in two writes with a pause between isn't shown`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start("printf hunter2; sleep 1; printf secret; echo; echo $A", terminal)
        #expect(try await running.finish().status == 0)
        try await terminal.waitUntilShown("***\r\n***\r\n")
        #expect(terminal.shown == "***\r\n***\r\n")
    }

    @Test(arguments: [("\u{3}", Int32(130)), ("\u{1C}", Int32(131))])
    func `Ctrl-C and similar keys end the program, and the terminal is restored`(_ key: String, _ status: Int32)
        async throws
    {
        let terminal = try PseudoTerminal()
        let running = try start("ulimit -c 0; echo waiting; exec sleep 1000", terminal)
        try await terminal.waitUntilShown("waiting")
        #expect(!terminal.sendsSignals)
        terminal.type(key)
        #expect(try await running.finish().status == status)
        #expect(terminal.echoes && terminal.sendsSignals)
    }

    @Test(arguments: [(SIGTERM, Int32(143)), (SIGHUP, Int32(129)), (SIGINT, Int32(130))])
    func `a signal from another process reaches the program, and the terminal is restored`(
        _ number: Int32, _ status: Int32
    ) async throws {
        let terminal = try PseudoTerminal()
        let running = try start("echo waiting; exec sleep 1000", terminal)
        try await terminal.waitUntilShown("waiting")
        kill(running.pid, number)
        #expect(try await running.finish().status == status)
        #expect(terminal.echoes && terminal.sendsSignals)
    }

    @Test func `a program that handles a signal decides what follows`() async throws {
        let terminal = try PseudoTerminal()
        let running = try start("trap 'echo taken; exit 7' TERM; echo waiting; while :; do sleep 0.05; done", terminal)
        try await terminal.waitUntilShown("waiting")
        kill(running.pid, SIGTERM)
        #expect(try await running.finish().status == 7)
        try await terminal.waitUntilShown("taken")
    }

    @Test func `Ctrl-Z stops the job, and the job continues in the foreground or the background`() async throws {
        let terminal = try PseudoTerminal()
        let shell = try await startShell(terminal)
        try await enter("masked sh -c 'echo $A one; while read line; do echo got-$line; done'", terminal, shell)
        try await terminal.waitUntilShown("*** one")
        terminal.type("\u{1A}")
        try await terminal.waitUntilShown("Stopped")
        try await enter("stty -a | grep -o '^isig'; echo stopped-$((1+1))", terminal, shell)
        try await terminal.waitUntilShown("\r\nisig\r\n")
        try await terminal.waitUntilShown("stopped-2")
        try await enter("fg; echo status-$?", terminal, shell)
        try await terminal.waitUntilShown("ready> fg; echo status-$?\r\nmasked")
        terminal.type("abc\r")
        try await terminal.waitUntilShown("got-abc")
        terminal.type("\u{1A}")
        try await terminal.waitUntilShown("status-148")
        try await enter("bg", terminal, shell)
        try await terminal.waitUntilShown("&\r\n")
        try await enter("echo beside-$((1+1))", terminal, shell)
        try await terminal.waitUntilShown("beside-2")
        try await enter("fg", terminal, shell)
        try await shell.wait(for: "the keys to be passed on") { !terminal.sendsSignals }
        terminal.type("def\r")
        try await terminal.waitUntilShown("got-def")
        terminal.type("\u{4}")
        try await shell.wait(for: "the terminal to be as it was") { terminal.sendsSignals }
        try await enter("echo end-$?; exit", terminal, shell)
        _ = try await shell.finish()
        try await terminal.waitUntilShown("end-0")
        #expect(!terminal.shown.contains("hunter2secret"))
    }

    @Test func `Ctrl-C ends the script that runs it, too`() async throws {
        let terminal = try PseudoTerminal()
        let shell = try await startShell(terminal)
        try await enter("sh -c 'masked sh -c \"echo waiting; exec sleep 1000\"; echo went-on'", terminal, shell)
        try await terminal.waitUntilShown("\r\nwaiting")
        terminal.type("\u{3}")
        try await shell.wait(for: "the terminal to be as it was") { terminal.sendsSignals }
        try await enter("echo status-$?", terminal, shell)
        try await terminal.waitUntilShown("status-130")
        try await enter("exit", terminal, shell)
        _ = try await shell.finish()
        #expect(!terminal.shown.contains("\r\nwent-on"))
    }

    @Test func `a shell inside controls its own jobs`() async throws {
        let terminal = try PseudoTerminal()
        let shell = try await startShell(terminal)
        try await enter("PS1='inner> ' masked bash --norc --noprofile --noediting -i", terminal, shell)
        try await terminal.waitUntilShown("\r\ninner> ")
        terminal.type("sleep 1000\r")
        try await shell.wait(for: "sleep") { children(of: shell.pid).contains { $0.hasPrefix("sleep") } }
        terminal.type("\u{1A}")
        try await terminal.waitUntilShown("Stopped                 sleep 1000")
        try await shell.wait(for: "a prompt") { terminal.shown.hasSuffix("inner> ") }
        terminal.type("kill -KILL %1; disown -a; exit 5\r")
        try await shell.wait(for: "the terminal to be as it was") { terminal.sendsSignals }
        try await enter("echo status-$?; exit", terminal, shell)
        _ = try await shell.finish()
        try await terminal.waitUntilShown("status-5")
    }

    /// The command lines of all processes below one.
    private func children(of process: Int32) -> [String] {
        let task = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return (task ?? []).flatMap { thread -> [String] in
            let text = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { Int32($0) }.flatMap { child -> [String] in
                let line = try? String(contentsOfFile: "/proc/\(child)/cmdline", encoding: .utf8)
                return [line ?? ""] + children(of: child)
            }
        }
    }

    @Test func `a masked program can start in the background, and leaves the terminal alone there`() async throws {
        let terminal = try PseudoTerminal()
        let shell = try await startShell(terminal)
        try await enter("masked sh -c 'echo $A one; read line; echo got-$line' &", terminal, shell)
        try await terminal.waitUntilShown("*** one")
        terminal.type("echo beside-$((1+1))\r")
        try await terminal.waitUntilShown("beside-2")
        terminal.type("fg\r")
        try await shell.wait(for: "the keys to be passed on") { !terminal.sendsSignals }
        terminal.type("abc\r")
        try await terminal.waitUntilShown("got-abc")
        try await shell.wait(for: "the terminal to be as it was") { terminal.sendsSignals }
        try await enter("exit", terminal, shell)
        #expect(try await shell.finish().status == 0)
    }

    @Test func `files and pipes stay files and pipes, and the other streams are a terminal`() async throws {
        let terminal = try PseudoTerminal()
        let shell = try await startShell(terminal)
        try await enter(
            "masked sh -c 'echo out $A; echo err $A >&2; test -t 1 || test -t 2 && echo yes >&2' > \(directory / "file")",
            terminal, shell)
        try await terminal.waitUntilShown("\r\nerr ***\r\nyes\r\nready> ")
        #expect(String(decoding: try directory.read("file"), as: UTF8.self) == "out ***\n")
        try await enter(
            "echo piped | masked sh -c 'read line; stty size <&1; echo $line $A; test -t 0 || echo no'", terminal, shell
        )
        try await terminal.waitUntilShown("\r\npiped ***\r\nno\r\nready> ")
        // Ctrl-C reaches all of a pipeline.
        try await enter("sleep 1000 | masked sh -c 'echo waiting; exec sleep 1000' ; echo status-$?", terminal, shell)
        try await terminal.waitUntilShown("\r\nwaiting")
        terminal.type("\u{3}")
        try await enter("exit", terminal, shell)
        _ = try await shell.finish()
        #expect(!terminal.shown.contains("hunter2secret"))
    }

    @Test func `the end of the person's terminal ends the program`() async throws {
        let running: RunningProgram
        do {
            let terminal = try PseudoTerminal()
            running = try start("echo $$ > \(directory / "number"); echo waiting; exec sleep 1000", terminal)
            try await terminal.waitUntilShown("waiting")
        }
        // The kernel tells the session's leader, which latchkey is here.
        kill(running.pid, SIGHUP)
        #expect(try await running.finish().status == 129)
        let number = try #require(
            Int32(String(decoding: try directory.read("number"), as: UTF8.self).dropLast()))
        #expect(kill(number, 0) != 0)
    }

    /// The end of the terminal is no end for a program that ignores SIGHUP.
    @Test(arguments: ["", "trap '' TERM HUP INT; "])
    func `a killed latchkey takes the program with it`(_ trap: String) async throws {
        let terminal = try PseudoTerminal()
        let running = try start("\(trap)echo $$ > \(directory / "number"); echo waiting; exec sleep 1000", terminal)
        try await terminal.waitUntilShown("waiting")
        let number = try #require(
            Int32(String(decoding: try directory.read("number"), as: UTF8.self).dropLast()))
        kill(running.pid, SIGKILL)
        #expect(try await running.finish().status == 137)
        for _ in 0..<6000 where kill(number, 0) == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(kill(number, 0) != 0)
    }

    /// Without a terminal the kernel tells the program nothing: monitor and program went on, with the secret, and no
    /// process masked what the program wrote.
    @Test(arguments: ["", "trap '' TERM HUP INT; "], [true, false])
    func `a killed latchkey takes the program with it where there is no terminal`(
        _ trap: String, _ isStopped: Bool
    ) async throws {
        let running = try BuiltProducts.latchkey().start(
            Self.masked + [
                "sh", "-c", "\(trap)echo $$ $PPID > \(directory / "numbers"); echo waiting; exec sleep 1000",
            ],
            environment: environment)
        try await running.wait(for: "the program") { running.outputSoFar.contains("waiting") }
        let numbers = String(decoding: try directory.read("numbers"), as: UTF8.self).split(
            whereSeparator: \.isWhitespace
        )
        .compactMap { Int32($0) }
        try #require(numbers.count == 2)
        if isStopped { kill(numbers[0], SIGSTOP) }
        running.killAlone()
        #expect(try await running.finish().status == 137)
        for number in numbers {
            for _ in 0..<6000 where Self.isAlive(number) { try await Task.sleep(for: .milliseconds(10)) }
            #expect(!Self.isAlive(number))
        }
    }

    /// Whether a process is there and hasn't ended: one that has may wait for its new parent to notice.
    private static func isAlive(_ number: Int32) -> Bool {
        let state = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
        return state.map { !$0.contains(") Z ") } ?? false
    }

    @Test func `a program that gets SIGURG from another process continues`() async throws {
        let running = try BuiltProducts.latchkey().start(
            Self.masked + ["sh", "-c", "kill -URG $PPID; kill -URG $$; echo $A on"], environment: environment)
        #expect(try await running.finish().outputText == "*** on\n")
    }

    /// A blocked write stopped the signals and the other stream, too.
    @Test(.timeLimit(.minutes(5))) func `a reader that takes nothing stops neither a signal nor the other stream`()
        async throws
    {
        let fifo = directory / "fifo"
        try #require(unsafe mkfifo(fifo, 0o600) == 0)
        let reader = unsafe open(fifo, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let script = "trap 'echo taken >&2; exit 7' TERM; yes & while :; do sleep 0.05; done"
        let running = try Program("sh").start(
            ["-c", "exec \"$0\" \"$@\" > \(fifo)", BuiltProducts.latchkey().path] + Self.masked + ["sh", "-c", script],
            environment: environment.merging(["PATH": Program.searchPath]) { $1 })
        try await running.wait(for: "a full pipe") {
            var count: Int32 = 0
            return unsafe ioctl(reader, UInt(FIONREAD), &count) == 0 && count >= 1 << 15
        }
        kill(running.pid, SIGTERM)
        let run = try await running.finish()
        // The rest is lost, as it would be on a full disk.
        #expect(run.status == 73 && run.errorText.hasPrefix("taken\n"), "\(run.errorText)")
        #expect(run.errorText.contains("error: can't write to standard output: "))
    }

    /// While nobody reads the output, nobody reads the program's either: what follows may be the rest of a secret.
    @Test func `a secret isn't shown in part because the reader is slow`() async throws {
        // Each secret lies across the end of a piece of 16 KiB.
        let program = "s = \"hunter2secret\"; print(\"x\" * 16378 + s + (\"x\" * 16371 + s) * 19, end=\"\", flush=True)"
        let run = try await Program("sh").run(
            [
                "-c",
                "\(BuiltProducts.latchkey().path) \(Self.masked.joined(separator: " ")) python3 -c '\(program)' | (sleep 2; cat)",
            ], environment: environment.merging(["PATH": Program.searchPath]) { $1 })
        #expect(!run.outputText.contains("hunt"), "\(run.errorText)")
        #expect(run.outputText.split(separator: "***").count == 20)
    }

    @Test(.timeLimit(.minutes(5))) func `a killed monitor takes the program with it`() async throws {
        let running = try BuiltProducts.latchkey().start(
            Self.masked + ["sh", "-c", "echo $PPID $$; exec sleep 1000"], environment: environment)
        try await running.wait(for: "numbers") { running.outputSoFar.hasSuffix("\n") }
        let numbers = running.outputSoFar.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
        try #require(numbers.count == 2)
        kill(numbers[0], SIGKILL)
        #expect(try await running.finish().status == 137)
        // It may be left for its new parent to collect.
        let state = "/proc/\(numbers[1])/stat"
        while let text = try? String(contentsOfFile: state, encoding: .utf8), !text.contains(") Z") {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Short output was lost with status 0, and the end of long output looked like that of its reader. A program may do
    /// without its output, so it isn't ended; it doesn't miss a closed standard error.
    @Test(arguments: [("> /dev/full", 73), (">&-", 73), ("2> /dev/full", 73), ("2>&-", 0), ("| true", 0)])
    func `output that can't be written is an error, and the program goes on`(
        _ redirection: String, _ status: Int32
    ) async throws {
        let file = directory / "done"
        for count in [1, 40_000] where redirection != "| true" || count == 1 {
            let program = "seq 1 \(count); seq 1 \(count) >&2; echo done > \(file)"
            let run = try await Program("bash").run(
                [
                    "-o", "pipefail", "-c",
                    "\(BuiltProducts.latchkey().path) \(Self.masked.joined(separator: " ")) sh -c '\(program)' \(redirection)",
                ], environment: environment.merging(["PATH": Program.searchPath]) { $1 })
            #expect(run.status == status, "\(run.errorText.suffix(300))")
            let isTold = run.errorText.contains("error: can't write to standard output: ")
            #expect(isTold == (status != 0 && !redirection.hasPrefix("2")), "\(run.errorText.suffix(300))")
            #expect(String(decoding: try directory.read("done"), as: UTF8.self) == "done\n")
            try FileManager.default.removeItem(atPath: file)
        }
    }

    /// Also where a closed output becomes /dev/null, opened for reading, which is where the other goes.
    @Test(arguments: [
        ("seq 1 40000; kill -TERM $$", "> /dev/full", 143), ("echo text >&2", ">&- 2> /dev/null", 0),
    ])
    func `output that can't be written changes no other status`(
        _ program: String, _ redirection: String, _ status: Int32
    ) async throws {
        let latchkey = try BuiltProducts.latchkey().path
        let run = try await Program("bash").run(
            ["-c", "\(latchkey) \(Self.masked.joined(separator: " ")) sh -c '\(program)' \(redirection)"],
            environment: environment.merging(["PATH": Program.searchPath]) { $1 })
        #expect(run.status == status, "\(run.errorText.suffix(300))")
    }

    /// A second after the program's end the rest was left in the pipe: a slow reader, or a busy machine, lost output.
    /// So did a signal that the program had handled before.
    @Test(arguments: ["", "trap : HUP; kill -HUP $(ps -o ppid= -p $PPID); sleep 0.2; "])
    func `all that a program wrote is shown, however late it is read`(_ before: String) async throws {
        let latchkey = try BuiltProducts.latchkey().path
        let program = "\(Self.masked.joined(separator: " ")) sh -c '\(before)seq 1 40000'"
        let run = try await Program("sh").run(
            ["-c", "\(latchkey) \(program) | (sleep 3; tail -1)"],
            environment: environment.merging(["PATH": Program.searchPath]) { $1 })
        #expect(run.outputText == "40000\n", "\(run.errorText)")
    }
}
