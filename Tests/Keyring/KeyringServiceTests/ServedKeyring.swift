internal import Foundation
internal import TestServices
import Testing

/// A bus of one test, and on it our service or gnome-keyring.
final class ServedKeyring: Sendable {
    enum Server: String, Sendable, CaseIterable, CustomTestStringConvertible {
        /// For other people's programs: the servers that users have; all of them in a long run.
        static let met: [Server] = runsLong ? allCases : [.fullVault, .gnomeKeyring]
        /// For our own attacks and our contract.
        static let attacked: [Server] = runsLong ? [.ours, .vault] : [.vault]

        /// The service on items in memory.
        case ours
        /// The service on a vault, as people use it.
        case vault
        /// A vault with a thousand credentials more, ten thousand in a long run.
        case fullVault = "full vault"
        case gnomeKeyring = "gnome-keyring"

        var testDescription: String { rawValue }
    }

    let session: PrivateSession
    /// Our service; the session has gnome-keyring.
    let service: RunningProgram?

    /// - Parameters:
    ///   - mode: of the fixture; see Tests/Keyring/KeyringFixture.
    ///   - count: the credentials of a full vault.
    init(
        _ server: Server = .ours, mode: String = "keyring", count: Int = runsLong ? 10_000 : 1000
    ) async throws {
        // As many calls may wait for their responses as on a desktop.
        let session = try await PrivateSession(
            server == .gnomeKeyring ? .unlocked : .none, limits: ["max_replies_per_connection": 50_000])
        self.session = session
        switch server {
        case .gnomeKeyring: service = nil
        case .ours:
            let running = try BuiltProducts.program("keyring-fixture").start(
                [mode, "--own"], environment: session.environment)
            service = running
            try await running.wait(for: "the service's name") { running.outputSoFar.contains("\n") }
        case .vault, .fullVault:
            try await Self.makeVault(session)
            if server == .fullVault {
                let vault = session.directory / "data/latchkey/vault"
                try await BuiltProducts.program("vault-writer").run(
                    ["fill", vault, session.directory / "key", "40", "\(count)"], environment: session.environment
                ).successful("fill")
            }
            let running = try BuiltProducts.latchkey().start(
                ["keyring", "serve"], environment: session.environment)
            service = running
            try await session.wait(from: running)
        }
    }

    /// One that a key file opens without a question.
    static func makeVault(_ session: PrivateSession) async throws {
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", session.directory / "key"], environment: session.environment
        ).successful("vault init")
    }

    /// Has something done behind the service's back, as by another process; see Tests/Keyring/KeyringFixture/Fixture.swift.
    func tell(_ line: String) async throws {
        guard let service else { throw ServiceFailure("gnome-keyring isn't told anything") }
        let before = service.outputSoFar
        service.type(line + "\n")
        try await service.wait(for: line) { service.outputSoFar.dropFirst(before.count).contains("done\n") }
    }

    /// A script of Tests/Keyring/KeyringServiceTests, with the system's Python, which has jeepney.
    func python(_ script: String, _ arguments: [String] = []) async throws -> ProgramRun {
        try await Program("/usr/bin/python3").run(
            [TestData.folder().appendingPathComponent(script).path] + arguments, environment: session.environment,
            timeout: .seconds(runsLong ? 20_000 : 300))
    }
}

/// What `Scripts/judges` fetched.
enum Judges {
    static let folder = TestData.package
        .appendingPathComponent(".build/judges").path
    static let python = folder + "/keyring/bin/python"

    static func require() throws {
        for part in ["keyring", "libsecret"] where !FileManager.default.fileExists(atPath: "\(folder)/\(part)/complete")
        {
            throw ServiceFailure("the judges are missing: run Scripts/judges")
        }
    }
}
