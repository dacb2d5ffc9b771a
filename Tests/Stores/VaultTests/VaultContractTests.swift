import LatchkeyCredentials
import LatchkeyStoreContract
import Testing

@Suite struct VaultContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let folder = try VaultFolder()
        try await statement.check(leases: folder.leases, effort: runsLong ? .long : .standard) {
            try await folder.store()
        }
    }
}
