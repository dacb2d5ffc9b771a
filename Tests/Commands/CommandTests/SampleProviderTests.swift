import Foundation
import Testing
import TestServices

/// A service to sign in at is a file (Tests/SignIn/SampleProvider/Forge.swift) and one line: options, configuration, completions
/// and texts come from it.
@Suite struct SampleProviderTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try directory.environment()
    }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.program("sample-provider").run(arguments, environment: environment)
    }

    @Test func `the sample is among the known services, and the error for an unknown one lists them all`() async throws
    {
        #expect(
            try await run("provider", "list", "--available").outputText.contains("https://forge.example.org/settings"))
        let refused = try await run("provider", "add", "x", "--service", "?")
        #expect(refused.status == 64 && refused.errorText.contains(", forge"), "\(refused.errorText)")
        // No other program has it.
        let other = try await BuiltProducts.latchkey().run(
            ["provider", "list", "--available"], environment: environment)
        #expect(other.status == 0 && !other.outputText.contains("forge.example.org"))
    }

    @Test func `the sample is added under its name, or at another host under another name, and listed`() async throws {
        let added = try await run("provider", "add", "forge", "--client-id", "me")
        #expect(
            added.status == 0 && added.errorText.contains("register this redirect URI at the server: http://127.0.0.1"),
            "\(added.errorText)")
        let elsewhere = try await run(
            "provider", "add", "ours", "--service", "forge", "--host", "git.example.net", "--client-id", "me")
        #expect(elsewhere.status == 0, "\(elsewhere.errorText)")
        let list = try await run("provider", "list").outputText
        #expect(list.contains("forge at git.example.net"), "\(list)")
    }

    @Test func `without a client id the sample says where to register one`() async throws {
        let refused = try await run("sign-in", "forge")
        #expect(refused.status == 1)
        #expect(refused.errorText.contains(" at https://forge.example.org/settings/applications"))
        #expect(refused.errorText.contains("latchkey sign-in forge --client-id ID"), "\(refused.errorText)")
    }

    @Test func `completion offers the sample`() async throws {
        let words = try await run("__complete", "sign-in", "for").outputText
        #expect(words.contains("forge"), "\(words)")
    }
}
