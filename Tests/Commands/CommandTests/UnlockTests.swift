internal import Foundation
internal import Testing
internal import TestServices

/// `vault unlock` and `vault lock`, with the kernel's own keyring, and where the kernel refuses it.
///
/// The key that a test leaves has the name of the test's own vault, and is taken away at its end.
@Suite struct UnlockTests {
    private static let script = TestData.folder().appendingPathComponent("kernel_keyring.py").path

    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try directory.environment()
    }

    /// - Parameter wrapper: what of kernel_keyring.py runs the program.
    private func latchkey(
        _ arguments: String..., with extra: [String: String] = [:], wrapper: [String] = []
    ) async throws -> ProgramRun {
        let environment = environment.merging(extra) { $1 }
        let program = try BuiltProducts.latchkey()
        if wrapper.isEmpty {
            return try await program.run(arguments, environment: environment, folder: directory.path)
        }
        return try await Program("/usr/bin/python3").run(
            [Self.script] + wrapper + [program.path] + arguments, environment: environment, folder: directory.path)
    }

    private func isAllowed() async throws -> Bool {
        let isAllowed = try await Program("/usr/bin/python3").run([Self.script, "probe"]).status == 0
        if !isAllowed { print("note: the kernel's keyring is refused here: UnlockTests shows only that this is said") }
        return isAllowed
    }

    /// Makes a vault with a secret in it, which opens with a passphrase from a file; returns what names the file.
    private func vaultWithPassphrase() async throws -> [String: String] {
        try await PassphraseVault.make("correct horse".utf8, in: environment)
        let key = ["LATCHKEY_PASSPHRASE_FILE": try directory.write("pass", "correct horse")]
        try await save(with: key)
        return key
    }

    /// Makes one which opens with a credential.
    private func vaultWithCredential() async throws -> [String: String] {
        let unit = try directory.makeFolder("unit")
        try directory.write("unit/latchkey", (0..<32).map { _ in UInt8.random(in: 0...255) }, mode: 0o400)
        let key = ["CREDENTIALS_DIRECTORY": unit]
        try await latchkey("vault", "init", "--credential", "latchkey", with: key).successful("vault init")
        try await save(with: key)
        return key
    }

    private func save(with key: [String: String]) async throws {
        try await BuiltProducts.latchkey().run(
            ["set", "example.org", "alice"], environment: environment.merging(key) { $1 }, input: Array("hunter2".utf8)
        ).successful("set")
    }
}

extension UnlockTests {
    @Test func `other processes open an unlocked vault without a key, until it is locked`() async throws {
        let key = try await vaultWithPassphrase()
        guard try await isAllowed() else {
            #expect(try await latchkey("vault", "unlock", with: key).status == 69)
            return
        }
        #expect(try await latchkey("get", "example.org", "alice").status == 77)
        let unlocked = try await latchkey("vault", "unlock", "--for", "1m", with: key)
        #expect(unlocked.status == 0 && unlocked.errorText.hasSuffix(" for 1 minute\n"), "\(unlocked.errorText)")
        // The kernel rounds down: a minute is shown, or what is left of it.
        let status = try await latchkey("vault", "status").successful("status").outputText
        #expect(status.contains("\nstate        unlocked") && status.contains("\ncredentials  1\n"), "\(status)")
        if FileManager.default.isReadableFile(atPath: "/proc/keys") {
            #expect(status.firstMatch(of: /unlocked, for ([0-9]+ seconds|1 minute) or a little more\n/) != nil)
            let json = try await latchkey("vault", "status", "--json").outputText
            #expect(json.firstMatch(of: /"seconds": [1-9]/) != nil, "\(json)")
        }
        // Nobody gives it a passphrase, so it can't have spent anything on Argon2.
        let read = try await latchkey("get", "--no-prompt", "example.org", "alice")
        #expect(read.outputText == "hunter2", "\(read.errorText)")
        let elsewhere = try await latchkey("get", "--no-prompt", "example.org", "alice", wrapper: ["session"])
        #expect(elsewhere.outputText == "hunter2", "\(elsewhere.errorText)")
        // What is named goes first, even if it is wrong.
        let wrong = ["LATCHKEY_PASSPHRASE_FILE": try directory.write("wrong", "battery staple")]
        #expect(try await latchkey("get", "example.org", "alice", with: wrong).status == 77)

        let locked = try await latchkey("vault", "lock")
        #expect(locked.status == 0 && locked.errorText == "latchkey: locked the vault\n")
        #expect(try await latchkey("get", "--no-prompt", "example.org", "alice").status == 77)
        let again = try await latchkey("vault", "lock")
        #expect(again.status == 0 && again.errorText == "latchkey: nothing to lock\n")
    }

    @Test func `prolonging the time needs the key again`() async throws {
        let key = try await vaultWithCredential()
        guard try await isAllowed() else { return #expect(try await latchkey("vault", "lock").status == 69) }
        try await latchkey("vault", "unlock", "--for", "1m", with: key).successful("unlock")
        let prolonged = try await latchkey("vault", "unlock", "--for", "7d")
        #expect(prolonged.status == 77, "\(prolonged.errorText)")
        #expect(try await latchkey("get", "example.org", "alice").outputText == "hunter2")
        try await latchkey("vault", "lock").successful("lock")
    }

    @Test(arguments: ["EPERM", "ENOSYS", "EACCES", "EDQUOT"])
    func `if the kernel refuses, unlock reports that and everything else continues`(_ error: String) async throws {
        let key = try await vaultWithCredential()
        let refusal = ["refuse", error]
        let unlocked = try await latchkey("vault", "unlock", with: key, wrapper: refusal)
        #expect(unlocked.status == 69)
        #expect(unlocked.errorText.contains("latchkey: error: the kernel's keyring"), "\(unlocked.errorText)")
        #expect(unlocked.errorText.contains("latchkey: hint: "))
        #expect(try await latchkey("vault", "lock", wrapper: refusal).status == 69)

        let read = try await latchkey("get", "example.org", "alice", with: key, wrapper: refusal)
        #expect(read.outputText == "hunter2")
        #expect(read.errorText == "")
        let told = try await latchkey(
            "get", "--log-level", "debug", "example.org", "alice", with: key, wrapper: refusal)
        #expect(told.errorText.contains("the kernel's keyring doesn't open the vault"))
    }

    @Test(arguments: [
        "0s", "0d", "8d", "169h", "604801s", "15", "m", "", "-1s", "+1s", "1.5h", "1w", " 1s", "٣s",
        "99999999999999999999d",
    ])
    func `an invalid time is refused before anything else`(_ text: String) async throws {
        let run = try await latchkey("vault", "unlock", "--for=\(text)")
        #expect(run.status == 64, "\(run.errorText)")
        #expect(run.errorText.contains("--for"))
    }

    @Test(arguments: ["1s", "7d", "604800s", "168h", "10080m"])
    func `the longest and the shortest time are accepted`(_ text: String) async throws {
        // There is no vault, which is found out later than what is wrong with the command line.
        let run = try await latchkey("vault", "unlock", "--for", text)
        #expect(run.status == 69, "\(run.errorText)")
    }
}
