import LatchkeyCredentials
import LatchkeyStoreContract
import Testing

@testable import LatchkeyVault

/// The sealed rows over another table than SQLite's.
@Suite struct OtherTableContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let folder = try VaultFolder()
        let keys = try VaultKeys.random(.random())
        let table = try MemoryRowTable.vault(keys)
        try await statement.check(leases: folder.leases) {
            try VaultStore(table: table, keys: keys, now: { .now() })
        }
    }
}
