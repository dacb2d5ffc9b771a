import ItemStoreChecks
import LatchkeyCredentials
import LatchkeySecrets
import Testing

@testable import LatchkeyVault

/// Items with attributes, over both tables.
@Suite struct ItemStoreTests {
    @Test(arguments: ItemStoreCheck.all + [.kinds])
    func `a vault keeps items`(_ check: ItemStoreCheck) async throws {
        let folder = try VaultFolder(inMemory: true)
        let store = try await folder.store()
        try await check.run(on: store)
        #expect(try await store.verify().problems == [])
    }

    @Test(arguments: ItemStoreCheck.all)
    func `another table does`(_ check: ItemStoreCheck) async throws {
        let keys = try VaultKeys.random(.random())
        let store = try VaultStore(table: MemoryRowTable.vault(keys), keys: keys, now: { .now() })
        try await check.run(on: store)
        #expect(try await store.verify(deadline: .standard).problems == [])
    }
}
