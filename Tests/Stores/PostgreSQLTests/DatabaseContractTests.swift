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

    @Test(arguments: ContractCase.allOfItems)
    func `keeps items`(_ statement: ContractCase) async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create()
        try await statement.check(on: store)
        #expect(try await store.verify().problems == [])
    }
}
