import LatchkeyCredentials
import LatchkeyVault
import TestServices

/// An empty place for a vault in a database, with a key file: the shared server's, or one's own.
struct DatabaseVault {
    let server: PostgreSQLServer
    let schema: PostgreSQLSchemaName
    let directory: TestDirectory
    var keyFile: String { directory / "key" }
    var leases: LeaseDirectory { LeaseDirectory(path: directory / "leases") }

    init(on server: PostgreSQLServer? = nil) async throws {
        self.server = if let server { server } else { try await .shared() }
        schema = PostgreSQLSchemaName(PostgreSQLServer.newSchema())!
        directory = try TestDirectory()
        try await self.server.sql(
            VaultStore.schemaStatements(schema, for: PostgreSQLSchemaName(PostgreSQLServer.superuser)!))
        try VaultKeyFile.create(at: keyFile)
    }

    var uri: String { server.vault(schema.name) }

    /// Makes the vault.
    @discardableResult
    func create() async throws -> VaultStore {
        try await VaultStore.create(at: uri, unlockedBy: .keyFile(keyFile))
    }

    func open() async throws -> VaultStore {
        try await VaultStore.open(at: uri, unlockedBy: .keyFile(keyFile))
    }
}
