import Testing
import TestServices

struct PseudoTerminalTests {
    @Test func `a program asks on its terminal without echo while its streams are captured`() async throws {
        let terminal = try PseudoTerminal()
        let script = """
            exec 3<>/dev/tty
            stty -echo <&3
            printf 'Password: ' >&3
            read -r answer <&3
            stty echo <&3
            printf %s "$answer"
            """
        let shell = try Program("sh").start(["-c", script], terminal: terminal)
        try await terminal.waitForQuestion("Password: ", from: shell)
        terminal.type("hidden\n")
        let run = try await shell.finish()
        #expect(run.outputText == "hidden")
        #expect(!terminal.shown.contains("hidden"))
        #expect(terminal.echoes)
    }

    @Test func `standard streams can be the terminal itself`() async throws {
        let terminal = try PseudoTerminal()
        let shell = try Program("sh").start(
            ["-c", "test -t 0 && test -t 1 && test -t 2 && echo three && read -r line && echo got $line"],
            terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitUntilShown("three")
        terminal.type("typed\n")
        #expect(try await shell.finish().status == 0)
        try await terminal.waitUntilShown("got typed\r\n")
    }

    @Test func `Ctrl-C on the terminal interrupts the program`() async throws {
        let terminal = try PseudoTerminal()
        let shell = try Program("sh").start(
            ["-c", "trap 'echo interrupted; exit 130' INT; echo ready; read -r line"], terminal: terminal,
            streamsOnTerminal: true)
        try await terminal.waitUntilShown("ready")
        terminal.type("\u{3}")
        #expect(try await shell.finish().status == 130)
    }

    @Test func `a program has a terminal only if the test passes one`() async throws {
        let run = try await Program("sh").run(["-c", "true </dev/tty"])
        #expect(run.status != 0)
    }
}
