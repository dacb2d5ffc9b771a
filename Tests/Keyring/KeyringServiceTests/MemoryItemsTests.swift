import ItemStoreChecks
import LatchkeyCredentials
import LatchkeyKeyringService
import Testing

@Suite struct MemoryItemsTests {
    /// It has one collection that nobody can add to, and the service checks the sizes.
    @Test(arguments: ItemStoreCheck.items + ItemStoreCheck.changes)
    func `the session's collection keeps items as a vault does`(_ check: ItemStoreCheck) async throws {
        let now = UnixTime.now()
        let login = ItemCollection(
            name: "login", label: "Login", aliases: ["default"], created: now, modified: now)
        try await check.run(on: MemoryItems([login]))
    }
}
