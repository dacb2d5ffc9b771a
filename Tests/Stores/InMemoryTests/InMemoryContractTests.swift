import LatchkeyCredentials
import LatchkeyStoreContract
import Testing

@Suite struct InMemoryContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let leases = try LeaseFolder()
        defer { leases.remove() }
        try await statement.check(leases: leases.directory) { try InMemoryStore() }
    }
}
