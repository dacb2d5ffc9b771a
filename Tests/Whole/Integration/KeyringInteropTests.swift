import Testing
import TestServices

/// The command line and secret-tool on one real keyring, each reading what the other wrote.
struct KeyringInteropTests {
    /// Bytes that a C string, a line or a text would cut or change.
    private let binary: [UInt8] = (0...255).map { UInt8($0) } + Array("\nend\n".utf8)

    @Test func `secret-tool reads what latchkey saved, also after the daemon was restarted`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await latchkey(["set", "example.org", "ada"], session, input: Array("s3cret".utf8)).successful("set")
        let lookup = ["lookup", "service", "example.org", "username", "ada"]
        #expect(try await session.secretTool(lookup).outputText == "s3cret")
        try await session.restartDaemon()
        #expect(try await session.secretTool(lookup).outputText == "s3cret")
        #expect(try await latchkey(["get", "example.org", "ada"], session).outputText == "s3cret")
        let search = try await session.secretTool(["search", "--all", "service", "example.org"]).outputText
        #expect(search.contains("label = Password for 'ada' on 'example.org'"))
    }

    @Test func `latchkey reads, changes and deletes what secret-tool stored, also after a restart`() async throws {
        let session = try await PrivateSession(.unlocked)
        let item = ["service", "example.org", "username", "ada"]
        try await session.secretTool(["store", "--label=Mine"] + item, input: Array("first".utf8)).successful("store")
        #expect(try await latchkey(["get", "example.org", "ada"], session).outputText == "first")
        try await session.restartDaemon()
        #expect(try await latchkey(["get", "example.org", "ada"], session).outputText == "first")
        try await latchkey(["set", "example.org", "ada"], session, input: Array("second".utf8)).successful("set")
        let search = try await session.secretTool(["search", "--all"] + item)
        #expect(search.outputText.contains("secret = second"))
        #expect(search.outputText.contains("label = Mine"))
        #expect(search.outputText.split(separator: "\n").count { $0.hasPrefix("secret = ") } == 1)
        try await latchkey(["delete", "example.org", "ada"], session).successful("delete")
        #expect(try await session.secretTool(["lookup"] + item).status != 0)
    }

    @Test func `binary secrets cross the bus unchanged, both ways`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await latchkey(["set", "example.org", "ours"], session, input: binary).successful("set")
        let ours = try await session.secretTool(["lookup", "service", "example.org", "username", "ours"])
        #expect(ours.output == binary)
        #expect(try await latchkey(["get", "example.org", "ours"], session).output == binary)
        let theirs = ["service", "example.org", "username", "theirs"]
        try await session.secretTool(["store", "--label=Theirs"] + theirs, input: binary).successful("store")
        #expect(try await latchkey(["get", "example.org", "theirs"], session).output == binary)
    }

    private func latchkey(
        _ arguments: [String], _ session: PrivateSession, input: [UInt8] = []
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["--store", "secret-service"] + arguments, environment: session.environment, input: input)
    }
}
