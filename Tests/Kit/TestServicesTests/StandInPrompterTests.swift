import Testing
import TestServices

struct StandInPrompterTests {
    private let item = ["service", "example", "username", "alice"]

    private func lockedSession() async throws -> PrivateSession {
        let session = try await PrivateSession(.unlocked)
        try await session.secretTool(["store", "--label=Example"] + item, input: Array("s3cret".utf8)).successful(
            "store")
        try await session.lock()
        return session
    }

    @Test func `the right password unlocks the keyring for each waiting caller`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .passwords([PrivateSession.password]))
        #expect(try await session.secretTool(["lookup"] + item).outputText == "s3cret")
        #expect(prompter.asked == 1)
    }

    @Test func `a dialog that is cancelled leaves the keyring locked`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .cancel)
        #expect(try await session.secretTool(["lookup"] + item).status != 0)
        #expect(prompter.asked >= 1)
    }

    @Test func `after a wrong password the dialog asks again`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(
            on: session, answering: .passwords(["wrong", PrivateSession.password]))
        let lookup = try await session.secretTool(["lookup"] + item)
        #expect(lookup.outputText == "s3cret", "status \(lookup.status): \(lookup.errorText)")
        #expect(prompter.asked == 2)
    }

    @Test func `an unanswered dialog keeps its caller waiting`() async throws {
        let session = try await lockedSession()
        let prompter = try await StandInPrompter(on: session, answering: .never)
        let waiting = try Program("secret-tool").start(["lookup"] + item, environment: session.environment)
        try await prompter.wait(for: "a question") { $0.asked == 1 }
        #expect(waiting.isRunning)
    }
}
