import Foundation
import Latchkey
import LatchkeyStoreContract
import OwnStore
import Testing

@Suite struct DrawerStoreTests {
    @Test(arguments: ContractCase.all)
    func `the drawer keeps the contract`(_ statement: ContractCase) async throws {
        let leases = NSTemporaryDirectory() + "drawer-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: leases) }
        try await statement.check(leases: LeaseDirectory(path: leases)) { DrawerStore(named: "test") }
    }
}
