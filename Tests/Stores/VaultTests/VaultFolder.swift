import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import TestServices

@testable import LatchkeyVault

/// A private directory of one test's own with a vault's path and a key file's, gone when the test is.
final class VaultFolder: Sendable {
    private let directory: TestDirectory
    var path: String { directory.path }
    var vault: String { path + "/vault" }
    var keyFile: String { path + "/key" }

    init(inMemory: Bool? = nil) throws {
        directory = try TestDirectory(inMemory: inMemory)
    }

    var leases: LeaseDirectory { LeaseDirectory(path: path + "/leases") }

    // MARK: - Vaults

    /// Opens the vault with the key file; makes both first when they are missing.
    @discardableResult
    func store() async throws(StoreError) -> VaultStore {
        if !FileManager.default.fileExists(atPath: keyFile) { try VaultKeyFile.create(at: keyFile) }
        if !FileManager.default.fileExists(atPath: vault) {
            return try await VaultStore.create(at: vault, unlockedBy: .keyFile(keyFile))
        }
        return try await VaultStore.open(at: vault, unlockedBy: .keyFile(keyFile))
    }

    /// Adds accounts with one number after another, ten thousand in a transaction.
    func fill(_ accounts: Range<Int>, secretByteCount: Int = 40) async throws {
        let store = try await store()
        let secret = try Secret<Password>.random(byteCount: secretByteCount)
        var rest = accounts
        while !rest.isEmpty {
            let keys = rest.prefix(10_000).map { key("\($0)") }
            try await store.fill(keys, with: secret, deadline: .after(.seconds(600)))
            rest = rest.dropFirst(keys.count)
        }
    }

    // MARK: - Files

    func contents(_ file: String? = nil) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: file ?? vault)))
    }

    /// Writes over a file in place.
    func replace(_ file: String? = nil, with bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file ?? vault))
        try setMode(0o600, of: file ?? vault)
    }

    func setMode(_ mode: Int, of file: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
}

// MARK: - Secrets and keys

func secret<Purpose: SecretPurpose>(_ text: String, as purpose: Purpose.Type = Password.self) -> Secret<Purpose> {
    let bytes = Array(text.utf8)
    return Secret(copying: bytes.span)
}

func passphrase(_ text: String) -> VaultKeySource { .passphrase(secret(text, as: Passphrase.self)) }

func key(_ account: String, service: String = "example.org", kind: CredentialKind = .password) -> CredentialKey {
    try! CredentialKey(service: service, account: account, kind: kind)
}

extension PassphraseCost {
    /// The cheapest that can be written: tests try many.
    static let cheap = try! PassphraseCost(memoryByteCount: 8 << 20, passes: 1)
}

extension CredentialStore {
    /// The text under a key, in the open: for comparing.
    func text(_ key: CredentialKey) async throws(StoreError) -> String? {
        guard let record = try await read(key, as: Password.self) else { return nil }
        return record.secret.withExposedBytes { bytes in
            var copy: [UInt8] = []
            for index in bytes.indices { copy.append(bytes[index]) }
            return String(decoding: copy, as: UTF8.self)
        }
    }
}

/// The error that `body` throws, or `nil`.
func refusal<Result: ~Copyable>(
    of body: () async throws(StoreError) -> Result
) async -> StoreError? {
    do throws(StoreError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

extension VaultStore {
    /// The table in the vault's file.
    var file: SQLiteRowTable {
        guard let table = table as? SQLiteRowTable else { preconditionFailure("the vault is in no file") }
        return table
    }
}

extension RowView {
    /// The connection of a view of a file.
    var connection: SQLiteConnection {
        guard let session = self as? SQLiteSession else { preconditionFailure("the view is of no file") }
        return session.connection
    }
}

extension RowTable {
    func read<Result: ~Copyable & Sendable>(
        _ body: (any RowView) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try read(Cancellation(.standard), body)
    }
}
