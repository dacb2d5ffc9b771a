import LatchkeyCredentials
import LatchkeyStoreContract
import TestServices
import Testing

@testable import LatchkeyVault

@Suite struct VaultContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let folder = try VaultFolder()
        try await statement.check(leases: folder.leases, effort: runsLong ? .long : .standard) {
            try await folder.store()
        }
    }
}

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

/// Items with attributes, over both tables.
@Suite struct ItemStoreTests {
    @Test(arguments: ContractCase.allOfItems + [.hiddenKinds])
    func `a vault keeps the contract for items`(_ statement: ContractCase) async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await statement.check(on: store)
        #expect(try await store.verify().problems == [])
    }

    @Test(arguments: ContractCase.allOfItems)
    func `a table in memory keeps the contract for items`(_ statement: ContractCase) async throws {
        let keys = try VaultKeys.random(.random())
        let store = try VaultStore(table: MemoryRowTable.vault(keys), keys: keys, now: { .now() })
        try await statement.check(on: store)
        #expect(try await store.verify(deadline: .standard).problems == [])
    }
}
