internal import Foundation
internal import LatchkeyStoreContract
internal import Testing
internal import TestServices

/// Other people's tests of a Secret Service, as they published them, against ours and against gnome-keyring.
struct JudgeTests {
    private static func environment(_ session: PrivateSession) throws -> [String: String] {
        var environment = session.environment
        environment["KEYRING_FIXTURE"] = try BuiltProducts.program("keyring-fixture").path
        return environment
    }

    // MARK: - Python

    @Test(arguments: ServedKeyring.Server.met)
    func `SecretStorage's own tests pass`(_ server: ServedKeyring.Server) async throws {
        try Judges.require()
        let keyring = try await ServedKeyring(server)
        let run = try await Program(Judges.python).run(
            ["-m", "unittest", "discover", "-s", "tests"], environment: keyring.session.environment,
            folder: Judges.folder + "/keyring/secretstorage-3.5.0")
        #expect(run.status == 0, "\(run.errorText)")
        // What it leaves out is for its stand-in; see below.
        #expect(run.errorText.contains("Ran 27 tests") && run.errorText.contains("OK (skipped=6)"), "\(run.errorText)")
    }

    /// Locking, unlocking, deleting and creating collections, with prompts.
    @Test func `SecretStorage's tests for a stand-in pass as well, and none is skipped`() async throws {
        try Judges.require()
        let session = try await PrivateSession(.none)
        let run = try await Program(Judges.python).run(
            ["tests/run_tests.py", Judges.folder + "/libsecret/libsecret/mock-service-lock.py"],
            environment: try Self.environment(session), folder: Judges.folder + "/keyring/secretstorage-3.5.0")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.errorText.contains("Ran 27 tests") && run.errorText.hasSuffix("OK\n"), "\(run.errorText)")
    }

    @Test(arguments: ServedKeyring.Server.met)
    func `Python keyring's own tests pass`(_ server: ServedKeyring.Server) async throws {
        try Judges.require()
        let keyring = try await ServedKeyring(server)
        let run = try await Program(Judges.python).run(
            ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/backends/test_SecretService.py"],
            environment: keyring.session.environment, folder: Judges.folder + "/keyring/keyring-25.7.0")
        #expect(run.status == 0 && run.outputText.contains("16 passed"), "\(run.outputText)\(run.errorText)")
    }

    // MARK: - libsecret

    /// All that go over the bus, but for those of prompts, which are about the stand-in's own.
    private static let suites = [
        ("session", 6), ("service", 12), ("collection", 27), ("item", 20), ("methods", 25), ("password", 15),
        ("paths", 20),
    ]

    /// They need the stand-in's collections, so gnome-keyring can't run them.
    @Test(arguments: Self.suites)
    func `libsecret's own tests pass`(_ suite: String, _ count: Int) async throws {
        try Judges.require()
        let session = try await PrivateSession(.none)
        let run = try await Program(Judges.folder + "/libsecret/build/libsecret/test-\(suite)").run(
            environment: try Self.environment(session))
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
        #expect(run.outputText.split(separator: "\n").count { $0.hasPrefix("ok ") } == count, "\(run.outputText)")
    }

    // MARK: - Our own

    /// Our client of the Secret Service, with the contract that all of our stores keep.
    @Test(arguments: ServedKeyring.Server.attacked)
    func `our own keyring store keeps its contract on it, with encrypted sessions`(
        _ server: ServedKeyring.Server
    ) async throws {
        let keyring = try await ServedKeyring(server)
        let probe = try KeyringProbe(keyring.session)
        for statement in ContractCase.all {
            let answer = try await probe.ask("contract", statement.statement, within: .seconds(300))
            #expect(answer == ["kept"], "\(statement)")
        }
        #expect(try await probe.ask("state").last == "encrypted")
    }
}
