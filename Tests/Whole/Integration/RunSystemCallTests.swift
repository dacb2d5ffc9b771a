import Foundation
import Testing
import TestServices

/// What the kernel is handed while `run` starts a program with stored secrets.
@Suite struct RunSystemCallTests {
    @Test(arguments: StoreUnderTest.allCases)
    func `a secret goes to the program's environment or to a file in memory, and nowhere else`(
        store: StoreUnderTest
    ) async throws {
        let session = try await CommandLineSession(store)
        let secret = Array(MemoryResidueTests.random().map { UInt8(ascii: "A") + $0 % 26 })
        let set = try await SystemCallTests.trace(["set", "traced", "ada"], session, input: secret).trace
        #expect(try set.places(of: secret) == [])
        let variable = try await SystemCallTests.trace(
            ["run", "--env", "A=traced/ada", "--", "true"], session)
        #expect(try variable.trace.places(of: secret) == ["execve "])
        let file = try await SystemCallTests.trace(
            ["run", "--file", "A=traced/ada", "--", "true"], session)
        // As strace shows a path.
        let name = "/memfd:latchkey".utf8.map { "\\x" + String($0, radix: 16) }.joined()
        let places = try file.trace.places(of: secret)
        #expect(places.count == 1 && places.allSatisfy { $0.hasPrefix("write ") && $0.contains(name) }, "\(places)")
        // The second program in between is given what the person's program is given.
        let masked = try await SystemCallTests.trace(
            ["run", "--mask", "--env", "A=traced/ada", "--", "printenv", "A"], session)
        #expect(masked.run.outputText == "***\n")
        #expect(try masked.trace.places(of: secret) == ["execve "])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a running masked program leaves nothing of its secrets outside guarded memory`(
        store: StoreUnderTest
    ) async throws {
        let session = try await CommandLineSession(store)
        let secret = MemoryResidueTests.random()
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["set", "residue", "ada"], environment: session.environment, input: secret)
            .successful("set")
        var environment = session.environment
        environment["LD_PRELOAD"] = try await SystemCallTests.library("stay_dumpable")
        let running = try latchkey.start(
            ["run", "--mask", "--env", "A=residue/ada", "--file", "F=residue/ada", "--"]
                + ["sh", "-c", "echo $A; cat $F; echo; echo waiting; read line"],
            environment: environment)
        try await running.wait(for: "the program") { running.outputSoFar.contains("waiting") }
        #expect(running.outputSoFar.hasPrefix("***\n***\n"))
        try MemoryResidueTests.expectNoPiece(of: secret, in: running.pid)
        // The search finds it where it is: what latchkey started has it in its environment.
        let children = try String(
            contentsOfFile: "/proc/\(running.pid)/task/\(running.pid)/children", encoding: .utf8)
        let monitor = try #require(children.split(separator: " ").first.flatMap { Int32($0) })
        #expect(try !ProcessMemory.places(ofPiecesOf: [secret], in: monitor)[0].isEmpty)
        running.type("\n")
        #expect(try await running.finish().status == 0)
    }

    @Test func `a masked program doesn't start if it can't get a terminal`() async throws {
        let session = try await CommandLineSession(.vault)
        _ = try await SystemCallTests.trace(["set", "traced", "ada"], session, input: Array("hunter2".utf8))
        let terminal = try PseudoTerminal()
        let running = try Program("strace").start(
            ["-f", "-o", "/dev/null", "-P", "/dev/ptmx", "-e", "trace=openat", "-e", "inject=openat:error=ENOENT"]
                + [BuiltProducts.latchkey().path, "run", "--mask", "--env", "A=traced/ada", "--", "echo", "started"],
            environment: session.environment, terminal: terminal, streamsOnTerminal: true)
        #expect(try await running.finish().status == 126)
        try await terminal.waitUntilShown("pipe the program's output, or remove --mask")
        #expect(
            terminal.shown.contains(
                "can't make a terminal for the program: no such file or directory [run.not-started]"))
        #expect(!terminal.shown.contains("started\r\n") && terminal.echoes)
    }
}
