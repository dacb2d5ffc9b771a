import ItemStoreChecks
import LatchkeyStoreContract
import LatchkeyVault
import Testing

/// A vault in a database keeps what a vault in a file keeps.
@Suite struct DatabaseContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let vault = try await DatabaseVault()
        try await vault.create()
        try await statement.check(leases: vault.leases) { try await vault.open() }
    }

    @Test(arguments: ItemStoreCheck.all)
    func `keeps items`(_ check: ItemStoreCheck) async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create()
        try await check.run(on: store)
        #expect(try await store.verify().problems == [])
    }
}
