import Testing
import TestServices

/// The command line on a real gnome-keyring, where it has more to say than a store does.
struct KeyringCommandTests {
    private func latchkey(
        _ arguments: [String], _ session: PrivateSession, input: String = "", environment: [String: String] = [:]
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            arguments, environment: session.environment.merging(environment) { $1 }, input: Array(input.utf8))
    }

    @Test func `an option, a variable and the configuration set the collection`() async throws {
        let session = try await PrivateSession(.unlocked)
        let path = try await session.makeCollection("Work")
        try await latchkey(["set", "s", "u", "--collection", "Work"], session, input: "work").successful("set")
        #expect(try await latchkey(["get", "s", "u", "--collection", path], session).outputText == "work")
        let variable = ["LATCHKEY_COLLECTION": "Work"]
        #expect(try await latchkey(["get", "s", "u"], session, environment: variable).outputText == "work")
        #expect(try await latchkey(["get", "s", "u", "--store", "secret-service"], session).status == 1)
        // An option wins over a variable.
        let home = try await latchkey(["get", "s", "u", "--collection", "default"], session, environment: variable)
        #expect(home.status == 1)
        try session.directory.makeFolder("config/latchkey")
        try session.directory.write("config/latchkey/config", "collection = Work\n")
        #expect(try await latchkey(["get", "s", "u"], session).outputText == "work")
    }

    @Test func `an unknown collection is unavailable, and an ambiguous one wrong usage, with a remedy`() async throws {
        let session = try await PrivateSession(.unlocked)
        _ = try await session.makeCollection("Work")
        let unknown = try await latchkey(["get", "s", "u", "--collection", "Wrok"], session)
        #expect(unknown.status == 69)
        #expect(unknown.errorText.contains("no collection in the keyring has that label"))
        #expect(unknown.errorText.contains("hint: ") && unknown.errorText.contains("'Work'"))
        let second = try await session.makeCollection("Work")
        let ambiguous = try await latchkey(["get", "s", "u", "--collection", "Work"], session)
        #expect(ambiguous.status == 64)
        #expect(ambiguous.errorText.contains("[store.ambiguous]") && ambiguous.errorText.contains(second))
    }

    /// Equal letters in other bytes were no other label, but another version: the copy was taken for another program's.
    @Test func `a label in other bytes is another label`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await latchkey(["set", "one", "u", "--label", "caf\u{E9}"], session, input: "one").successful("set")
        try await latchkey(["set", "two", "u", "--label", "cafe\u{301}"], session, input: "two").successful("set")
        try await latchkey(["rename", "one", "u", "--to", "two/u", "--force"], session).successful("rename")
        #expect(try await latchkey(["get", "two", "u"], session).outputText == "one")
        #expect(try await latchkey(["get", "one", "u"], session).status == 1)
    }

    /// Another item that can't be described made the absence of this one an error.
    @Test func `a secret that isn't there is absent, also where the hint can't be made`() async throws {
        let session = try await PrivateSession(.none)
        let service = try await StandInService(on: session, ["GetAll": .error])
        for words in [["get"], ["delete", "--yes"]] {
            let run = try await latchkey(words + ["s", "nobody", "--store", "secret-service"], session)
            #expect(run.status == 1 && run.errorText.contains("latchkey list"), "\(run.errorText)")
        }
        #expect(service.calls("GetAll") > 0)
    }

    @Test func `a collection is made with --create-collection only`() async throws {
        let session = try await PrivateSession(.none)
        try await session.startDaemon(password: nil)
        let prompter = try await StandInPrompter(on: session, answering: .passwords(["new password"]))
        let refused = try await latchkey(["set", "s", "u", "--store", "secret-service"], session, input: "x")
        #expect(refused.status == 69)
        #expect(refused.errorText.contains("--create-collection"))
        #expect(prompter.begun == 0)
        // It means the keyring: no store was chosen before.
        let arguments = ["set", "s", "u", "--create-collection"]
        try await latchkey(arguments, session, input: "x").successful("set")
        #expect(prompter.begun == 1)
        #expect(try await session.secretTool(["lookup", "service", "s", "username", "u"]).outputText == "x")
    }
}
