import Glibc
import LatchkeyCredentials
import LatchkeyLog
import LatchkeyProcess
import LatchkeySecrets
import LatchkeySystem
import LatchkeyVault
import Testing
import TestServices

@testable import LatchkeyStoreSelection

/// What a program gets that hands over its environment and nothing else.
struct EnvironmentTests {
    private let directory: TestDirectory
    private let variables: [String: String]

    init() async throws {
        directory = try TestDirectory()
        variables = try directory.environment().merging([
            "LATCHKEY_VAULT": directory / "v/vault", "LATCHKEY_KEY_FILE": directory / "key",
        ]) { $1 }
        try VaultKeyFile.create(at: directory / "key")
        _ = try await VaultStore.create(at: directory / "v/vault", unlockedBy: .keyFile(directory / "key"))
    }

    private func open(
        _ changes: [String: String] = [:], illegible: Set<String> = []
    ) async throws(StoreSelectionError) -> (store: any CredentialStore, choice: StoreChoice) {
        try await StoreSelector.open(
            in: ProgramEnvironment(
                variables: variables.merging(changes) { $1 }, home: directory.path, illegibleNames: illegible))
    }

    /// A program had to guess the path of the vault, and to set a variable to open it.
    @Test func `a program creates the vault that it and the command line then find`() async throws {
        let home = try TestDirectory()
        let variables = try home.environment()
        let environment = ProgramEnvironment(variables: variables, home: home.path)
        await #expect(throws: StoreSelectionError.self) { _ = try await StoreSelector.open(in: environment) }
        let made = try await StoreSelector.createVault(in: environment)
        let (store, _) = try await StoreSelector.open(in: environment)
        #expect(store.identity.location == made.identity.location)
        let key = try CredentialKey(service: "example.org", account: "alice")
        try await store.save(Secret<Password>.random(byteCount: 12), for: key)
        let listed = try await BuiltProducts.latchkey().run(["list"], environment: variables).successful("list")
        #expect(listed.outputText.contains("alice"))
        // A second one is refused, also with another key, which isn't left.
        for keyFile in [nil, home / "other.key"] {
            let refusal = await #expect(throws: StoreError.self) {
                _ = try await StoreSelector.createVault(in: environment, keyFile: keyFile)
            }
            #expect(refusal?.code == .conflict)
        }
        #expect(unsafe access(home / "other.key", F_OK) != 0)
        // A key that an earlier attempt left serves the next one.
        let later = try TestDirectory()
        try VaultKeyFile.create(at: later / "key")
        let variables2 = try later.environment().merging(["LATCHKEY_KEY_FILE": later / "key"]) { $1 }
        let second = ProgramEnvironment(variables: variables2, home: later.path)
        _ = try await StoreSelector.createVault(in: second)
        #expect(try await StoreSelector.open(in: second).store.identity.location.hasPrefix(later.path))
    }

    @Test func `places of two stores are refused unless the store is set too`() async throws {
        let refusal = await #expect(throws: StoreSelectionError.self) {
            _ = try await open(["LATCHKEY_COLLECTION": "Work"])
        }
        guard let error = refusal?.storeError else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(error.code == .unavailable && error.hint != nil)
        let named = try await open(["LATCHKEY_COLLECTION": "Work", "LATCHKEY_STORE": "vault"])
        #expect(named.store.identity.location == directory / "v/vault")
    }

    @Test func `the vault in the environment opens with the key in the environment, and stores a credential`()
        async throws
    {
        let (store, choice) = try await open()
        #expect(store.identity.location == directory / "v/vault")
        #expect(choice.source == .environment)
        let key = try CredentialKey(service: "example.org", account: "alice")
        let secret = try Secret<Password>.random(byteCount: 12)
        try await store.save(secret, for: key)
        let again = try await open(["LATCHKEY_STORE": "vault"]).store
        guard let record = try await again.read(key, as: Password.self) else {
            Issue.record("it is gone")
            return
        }
        let isSame = record.secret.matches(secret)
        #expect(isSame)
    }

    @Test func `an unknown store, a missing vault and an unreadable variable are errors`()
        async throws
    {
        func failure(_ changes: [String: String], illegible: Set<String> = []) async -> String? {
            do throws(StoreSelectionError) {
                _ = try await open(changes, illegible: illegible)
                return nil
            } catch {
                let helps = error.storeError?.recoveries ?? []
                return "\(error.codeName)\(helps.map { " \($0)" }.joined())"
            }
        }
        #expect(await failure(["LATCHKEY_STORE": "nowhere"]) == "selection.unknown-store")
        #expect(await failure(["LATCHKEY_VAULT": directory / "v/none"]) == "store.unavailable createVault")
        #expect(await failure(["LATCHKEY_KEY_FILE": directory / "none"]) == "store.unavailable chooseKeyFile")
        #expect(await failure([:], illegible: ["LATCHKEY_STORE"]) == "store.unavailable")
        #expect(await failure([:], illegible: ["PS1"]) == nil)
    }

    @Test func `one line break at the end of a passphrase file is no part of the passphrase`() async throws {
        _ = try await VaultStore.create(
            at: directory / "p/vault", unlockedBy: .passphrase(Secret(copying: Array("open sesame".utf8).span)),
            cost: try PassphraseCost(memoryByteCount: 8 << 20, passes: 1))
        for (end, isRight) in [("", true), ("\n", true), ("\r\n", true), ("\r", false), ("\n\n", false)] {
            var environment = try directory.environment()
            environment["LATCHKEY_VAULT"] = directory / "p/vault"
            environment["LATCHKEY_PASSPHRASE_FILE"] = try directory.write(
                "passphrase", "open sesame\(end)", mode: 0o600)
            let error = await failure(
                StoreSelectionError.self,
                awaiting: try await StoreSelector.open(
                    in: ProgramEnvironment(variables: environment, home: directory.path)))
            #expect(error?.storeError?.code == (isRight ? nil : .wrongKey), "\(end.debugDescription)")
        }
    }

    @Test func `opening from the environment never asks for a passphrase`() async throws {
        _ = try await VaultStore.create(
            at: directory / "p/vault", unlockedBy: .passphrase(Secret(copying: Array("open sesame".utf8).span)),
            cost: try PassphraseCost(memoryByteCount: 8 << 20, passes: 1))
        let environment = try directory.environment()
        do throws(StoreSelectionError) {
            _ = try await StoreSelector.open(
                in: ProgramEnvironment(
                    variables: environment.merging(["LATCHKEY_VAULT": directory / "p/vault"]) { $1 },
                    home: directory.path))
            Issue.record("it was opened")
        } catch {
            guard error.storeError?.code == .locked else {
                Issue.record("\(error)")
                return
            }
            let sink = MemoryLogSink()
            RedactedLogger("test", minimumLevel: .info, sink: sink).info("no store: \(error)")
            #expect(sink.records.first?.message.text.hasSuffix("[store.locked]") == true)
        }
    }
}
