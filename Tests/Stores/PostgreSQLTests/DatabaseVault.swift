import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import TestServices

@testable import LatchkeyVault

/// An empty place for a vault in a database, with a key file: the shared server's, or one's own.
struct DatabaseVault {
    let server: PostgreSQLServer
    let schema: PostgreSQLSchemaName
    let directory: TestDirectory
    var keyFile: String { directory / "key" }
    var leases: LeaseDirectory { LeaseDirectory(path: directory / "leases") }

    /// - Parameter role: who works with the vault, besides the owner; it is made.
    init(on server: PostgreSQLServer? = nil, role: String? = nil) async throws {
        self.server = if let server { server } else { try await .shared() }
        schema = PostgreSQLSchemaName(PostgreSQLServer.newSchema())!
        directory = try TestDirectory()
        uri = self.server.vault(schema.name)
        if let role { try await self.server.sql("CREATE ROLE \(role) LOGIN") }
        try await self.server.sql(
            VaultStore.schemaStatements(schema, for: PostgreSQLSchemaName(role ?? PostgreSQLServer.superuser)!))
        try VaultKeyFile.create(at: keyFile)
    }

    /// The vault's, on one server unless a test says otherwise.
    var uri: String

    /// Makes the vault, with some credentials.
    @discardableResult
    func create(_ count: Int = 0) async throws -> VaultStore {
        let store = try await VaultStore.create(at: uri, unlockedBy: .keyFile(keyFile))
        for number in 0..<count { try await store.save(secret("secret \(number)"), for: key("\(number)")) }
        return store
    }

    func open(
        memory: RollbackMemory? = nil, itemCheck: ItemCheck = .whenSmall, deadline: Deadline = .standard
    ) async throws(StoreError) -> VaultStore {
        try await VaultStore.open(
            at: uri, unlockedBy: .keyFile(keyFile), memory: memory, itemCheck: itemCheck, deadline: deadline)
    }

    func session() throws -> RunningProgram { try server.session() }

    /// Runs statements as the tables' owner; `%.` stands for the schema.
    @discardableResult
    func sql(_ statements: String) async throws -> String {
        try await server.sql(statements.replacing("%.", with: "\(schema.name)."))
    }
}

// MARK: - Secrets and keys

func secret(_ text: String) -> Secret<Password> {
    let bytes = Array(text.utf8)
    return Secret(copying: bytes.span)
}

func key(_ account: String, service: String = "example.org") -> CredentialKey {
    try! CredentialKey(service: service, account: account)
}

extension CredentialStore {
    /// The text under a key, in the open: for comparing.
    func text(_ key: CredentialKey, deadline: Deadline = .standard) async throws(StoreError) -> String? {
        guard let record = try await read(key, as: Password.self, deadline: deadline) else { return nil }
        return record.secret.withExposedBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
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
