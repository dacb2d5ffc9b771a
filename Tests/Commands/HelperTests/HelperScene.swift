import Foundation
import Testing
import TestServices

/// A person whose tools ask Latchkey: its helpers are on the path, and one store is used.
final class HelperScene: Sendable {
    enum Store: String, CaseIterable, CustomTestStringConvertible {
        case vault
        case secretService = "secret-service"

        var testDescription: String { rawValue }
    }

    let store: Store
    let directory: TestDirectory
    let desktop: PrivateSession?
    let environment: [String: String]

    /// The names that a package installs as links.
    static let names = [
        "git-credential-latchkey", "docker-credential-latchkey", "cargo-credential-latchkey", "keyring",
        "latchkey-askpass",
        "terraform-credentials-latchkey",
    ]

    /// - Parameter misses: whether its vault is missing when the tools ask.
    init(_ store: Store = .vault, misses: Bool = false) async throws {
        self.store = store
        desktop = store == .secretService ? try await PrivateSession(.unlocked) : nil
        directory = try desktop?.directory ?? TestDirectory()
        var environment = try desktop?.environment ?? directory.environment()
        try Self.link(in: directory, &environment)
        environment["LATCHKEY_STORE"] = store.rawValue
        if store == .vault { environment["LATCHKEY_KEY_FILE"] = directory / "key" }
        if misses { environment["LATCHKEY_VAULT"] = directory / "nowhere" }
        self.environment = environment
        if misses { return }
        if store == .vault { try await latchkey("vault", "init", "--key-file", directory / "key") }
    }

    /// A person whose store is locked.
    init(locked store: Store) async throws {
        self.store = store
        desktop = store == .secretService ? try await PrivateSession(.locked) : nil
        directory = try desktop?.directory ?? TestDirectory()
        var environment = try desktop?.environment ?? directory.environment()
        try Self.link(in: directory, &environment)
        environment["LATCHKEY_STORE"] = store.rawValue
        self.environment = environment
        guard store == .vault else { return }
        try await PassphraseVault.make("words of a passphrase".utf8, in: environment)
    }

    /// Puts links with the helpers' names on the path.
    private static func link(in directory: TestDirectory, _ environment: inout [String: String]) throws {
        let programs = try directory.makeFolder("bin")
        for name in names + ["latchkey"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(programs)/\(name)", withDestinationPath: BuiltProducts.latchkey().path)
        }
        environment["PATH"] = "\(programs):\(Program.searchPath)"
    }

    @discardableResult
    func latchkey(_ arguments: String..., input: String = "") async throws -> String {
        try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
            .successful("latchkey " + arguments.joined(separator: " ")).outputText
    }

    /// Calls a helper by its own name.
    func helper(_ name: String, _ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await Program(directory / "bin/\(name)").run(
            arguments, environment: environment, input: Array(input.utf8))
    }

    /// Runs a script of the shell's, where the helpers are found by name.
    func shell(_ script: String, _ arguments: String...) async throws -> ProgramRun {
        try await shell(script, arguments)
    }

    func shell(_ script: String, _ arguments: [String]) async throws -> ProgramRun {
        try await Program("bash").run(
            ["-c", script, "bash"] + arguments, environment: environment, folder: directory.path)
    }

    /// `go` starts a program that counts its uses, which may write into this scene's directory after the test's end.
    func stopTelemetryOfGo() throws {
        try directory.makeFolder("config/go/telemetry")
        try directory.write("config/go/telemetry/mode", "off\n")
    }

    static func fixture(_ name: String) -> String { TestData.folder().path + "/Fixtures/\(name)" }
}
