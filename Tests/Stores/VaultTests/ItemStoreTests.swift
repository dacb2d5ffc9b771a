import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeySecrets
import Testing

@testable import LatchkeyVault

/// Items with attributes, over both tables.
@Suite struct ItemStoreTests {
    @Test(arguments: ContractCase.allOfItems + [.hiddenKinds])
    func `a vault keeps items`(_ statement: ContractCase) async throws {
        let folder = try VaultFolder(inMemory: true)
        let store = try await folder.store()
        try await statement.check(on: store)
        #expect(try await store.verify().problems == [])
    }

    @Test(arguments: ContractCase.allOfItems)
    func `another table does`(_ statement: ContractCase) async throws {
        let keys = try VaultKeys.random(.random())
        let store = try VaultStore(table: MemoryRowTable.vault(keys), keys: keys, now: { .now() })
        try await statement.check(on: store)
        #expect(try await store.verify(deadline: .standard).problems == [])
    }
}
