internal import Foundation

/// Vaults that a passphrase opens, at a cost that many tests can pay: each try of one that `latchkey` makes is to take
/// most of a second, and `latchkey` makes none that is cheaper, but for `cheap`.
public enum PassphraseVault {
    /// Makes a vault as `latchkey vault init` does.
    ///
    /// - Parameters:
    ///   - passphrase: without a line's end.
    ///   - path: where it is to be; `nil` for the usual place in the environment.
    ///   - mebibytes: how much memory a try of the passphrase passes over, once.
    public static func make(
        _ passphrase: some Sequence<UInt8>, at path: String? = nil, in environment: [String: String], mebibytes: Int = 8
    ) async throws {
        let usual = "\(environment["XDG_DATA_HOME"] ?? "")/latchkey/vault"
        try await run(path ?? usual, "-", "passphrase", mebibytes, passphrase)
    }

    /// Adds a slot as `latchkey vault add-slot` does.
    public static func addSlot(
        _ name: String, _ passphrase: some Sequence<UInt8>, to path: String, keyFile: String
    ) async throws {
        try await run(path, keyFile, name, 8, passphrase)
    }

    /// An environment in which `latchkey` itself derives each key with 8 MiB and one pass, whatever cost it writes into
    /// the slot: for tests of questions, whose answers become the passphrases of new vaults. It opens the vaults made
    /// here, too.
    public static func cheap(_ environment: [String: String]) async throws -> [String: String] {
        let source = TestData.folder().appendingPathComponent("cheap_passphrases.c").path
        return environment.merging(["LD_PRELOAD": try await Program.compile(source, ["-shared", "-fPIC"])]) { $1 }
    }

    private static func run(
        _ path: String, _ keyFile: String, _ name: String, _ mebibytes: Int, _ passphrase: some Sequence<UInt8>
    ) async throws {
        try await BuiltProducts.program("vault-writer").run(
            ["words", path, keyFile, name, "\(mebibytes)"], input: Array(passphrase)
        ).successful("vault-writer words")
    }
}
