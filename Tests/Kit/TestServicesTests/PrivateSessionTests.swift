import Testing
import TestServices

struct PrivateSessionTests {
    private let item = ["service", "example", "username", "alice"]

    @Test func `an unlocked session stores and finds a secret, also after a restart of the daemon`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await session.secretTool(["store", "--label=Example"] + item, input: Array("s3cret".utf8)).successful(
            "store")
        #expect(try await session.secretTool(["lookup"] + item).outputText == "s3cret")
        try await session.restartDaemon()
        #expect(try await session.secretTool(["lookup"] + item).outputText == "s3cret")
        await session.killDaemon()
        #expect(try await session.secretTool(["lookup"] + item).status != 0)
    }

    @Test func `a locked session has a collection that refuses to store`() async throws {
        let session = try await PrivateSession(.locked)
        #expect(try await session.hasOwner())
        let store = try await session.secretTool(["store", "--label=Example"] + item, input: Array("s3cret".utf8))
        #expect(store.status != 0)
    }

    @Test func `a session can be locked later`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await session.secretTool(["store", "--label=Example"] + item, input: Array("s3cret".utf8)).successful(
            "store")
        try await session.lock()
        #expect(try await session.secretTool(["lookup"] + item).status != 0)
    }

    @Test func `a session without a keyring has a bus without a secret service`() async throws {
        let session = try await PrivateSession(.none)
        #expect(try await !session.hasOwner())
        await session.killBus()
        await #expect(throws: ServiceFailure.self) { try await session.hasOwner() }
        try await session.startBus()
        #expect(try await !session.hasOwner())
    }

    @Test func `two sessions don't see each other`() async throws {
        let first = try await PrivateSession(.unlocked)
        let second = try await PrivateSession(.unlocked)
        try await first.secretTool(["store", "--label=Example"] + item, input: Array("first".utf8)).successful("store")
        #expect(try await second.secretTool(["lookup"] + item).status != 0)
    }
}
