import Foundation
import TestServices

/// A person with a vault that a key file opens, and without a keyring.
final class KeyringScene: Sendable {
    let directory: TestDirectory
    let environment: [String: String]
    /// Ends with the scene.
    let bus: PrivateSession?

    /// - Parameter passphrase: opens the vault instead of a key file, and is in the file `words`.
    init(passphrase: String? = nil) async throws {
        bus = nil
        directory = try TestDirectory()
        var environment = try directory.environment()
        let folder = URL(fileURLWithPath: try BuiltProducts.latchkey().path).deletingLastPathComponent().path
        environment["PATH"] = "\(folder):\(Program.searchPath)"
        environment["LATCHKEY_STORE"] = "vault"
        if let passphrase {
            try directory.write("words", passphrase)
            try await PassphraseVault.make(passphrase.utf8, in: environment)
        } else {
            try await BuiltProducts.latchkey().run(
                ["vault", "init", "--key-file", directory / "key"], environment: environment
            ).successful("vault init")
        }
        self.environment = environment
    }

    /// With a session bus.
    init(on bus: PrivateSession) async throws {
        self.bus = bus
        directory = bus.directory
        var environment = bus.environment
        let folder = URL(fileURLWithPath: try BuiltProducts.latchkey().path).deletingLastPathComponent().path
        environment["PATH"] = "\(folder):\(Program.searchPath)"
        environment["LATCHKEY_STORE"] = "vault"
        self.environment = environment
        try await latchkey("vault", "init", "--key-file", directory / "key").successful("vault init")
    }

    @discardableResult
    func latchkey(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            arguments, environment: environment, input: Array(input.utf8), folder: directory.path)
    }

    /// What a shell does in the test's folder.
    func shell(_ script: String, _ extra: [String: String] = [:]) async throws -> ProgramRun {
        try await Program("bash").run(
            ["-c", script], environment: environment.merging(extra) { $1 }, folder: directory.path)
    }

    /// From then on a passphrase alone opens the vault.
    func replaceKey(with passphrase: String) async throws {
        try await PassphraseVault.addSlot(
            "words", passphrase.utf8, to: directory / "data/latchkey/vault", keyFile: directory / "key")
        try FileManager.default.removeItem(atPath: directory / "key")
    }

    func set(_ service: String, _ account: String, _ secret: String) async throws {
        try await latchkey("set", service, account, input: secret).successful("set")
    }

    /// Whether a program of this name works in the test's home: by its working folder or its arguments.
    func isRunning(_ pattern: String) async throws -> Bool {
        let found = try await Program("pgrep").run(["-f", "--", pattern])
        return found.status == 0
    }
}
