import Foundation
import LatchkeyCredentials
import Synchronization
import Testing

@testable import LatchkeyVault

/// A vault that another process changes or rekeys while this one opens or copies it.
@Suite struct OpeningBesideTests {
    private static func memory(_ folder: VaultFolder) -> RollbackMemory {
        RollbackMemory(directory: folder.path + "/state/vaults")
    }

    private func open(_ folder: VaultFolder, _ memory: RollbackMemory) async throws(StoreError) -> VaultStore {
        try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory)
    }

    private func code(opening folder: VaultFolder, _ memory: RollbackMemory) async -> StoreError.Code? {
        await refusal { () async throws(StoreError) in try await open(folder, memory) }?.code
    }

    /// The one file of the memory.
    private func file(_ folder: VaultFolder) throws -> String {
        let directory = Self.memory(folder).directory
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return directory + "/" + (try #require(names.count == 1 ? names[0] : nil))
    }

    /// What another host has of a vault between the look at its slots and the look at its manifest: it sealed its record
    /// under the key of before, and later refused the sound vault as put back.
    @Test func `a vault that is rekeyed while it is opened opens, with its rollback record under the new key`()
        async throws
    {
        let folder = try VaultFolder()
        let other = try await folder.store()
        try await other.save(secret("1"), for: key("a"))
        let memory = Self.memory(folder)
        let store = try await open(folder, memory)
        for _ in 0..<6 {
            let (keys, slot) = (store.keys, store.slot)
            _ = try await other.rekey()
            let rows = try VaultStore(
                table: store.table, keys: keys, slot: slot,
                memory: GenerationMemory(memory, vault: keys.vault), now: { UnixTime.now() })
            #expect(rows.rollback == .current && rows.keys.id == other.keys.id)
            let bytes = try folder.contents(try file(folder))
            let mark = GenerationMark.open(bytes, key: rows.keys.rollback, vault: keys.vault)
            #expect(mark?.generation == (try rows.generation()))
            #expect(try await open(folder, memory).rollback == .current)
            #expect(try await store.text(key("a")) == "1")
        }
    }

    /// As the fault above has left it on hosts.
    @Test func `a record of this generation under an earlier key is replaced, and a newer one refused`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let memory = Self.memory(folder)
        _ = try await open(folder, memory)
        let before = store.keys
        _ = try await store.rekey()
        let manifest = try store.current { (view, state) throws(StoreError) in
            _ = try view.record(Manifest.recordName)
            return state.manifest
        }
        try folder.replace(try file(folder), with: GenerationMark(manifest, before, origin: 1).seal(before))
        #expect(try await open(folder, memory).rollback == .current)
        let bytes = try folder.contents(try file(folder))
        #expect(GenerationMark.open(bytes, key: store.keys.rollback, vault: before.vault) != nil)
        #expect(try await open(folder, memory).rollback == .current)

        var newer = manifest
        newer.generation += 1
        try folder.replace(try file(folder), with: GenerationMark(newer, before, origin: 1).seal(before))
        #expect(await code(opening: folder, memory) == .rolledBack)
    }

    @Test func `a record that changes while a vault is opened is read again before a refusal`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let memory = Self.memory(folder)
        let store = try await open(folder, memory)
        let manifest = store.known.withLock { $0.manifest }
        let whole = try folder.contents(try file(folder))
        for torn in [Array(whole.prefix(40)) + [UInt8](repeating: 0, count: whole.count - 40), Array(whole.dropLast())]
        {
            try folder.replace(try file(folder), with: torn)
            let seen = try GenerationMemory(memory, vault: store.keys.vault)
            try folder.replace(try file(folder), with: whole)
            let error = await refusal { () async throws(StoreError) in
                try seen.check(manifest, store.keys, FormerKeys())
            }
            #expect(error?.code == .busy)
            #expect(try await open(folder, memory).rollback == .current)
        }
    }

    /// A copy was refused as put back where another thread had seen a change since the copy was made.
    @Test func `a copy can be older than changes seen after it was made`() async throws {
        let keys = try VaultKeys.random(.random())
        let table = try MemoryRowTable.vault(keys)
        func open() throws -> VaultStore {
            try VaultStore(table: table, keys: keys, now: { .now() })
        }
        let store = try open()
        try await store.save(secret("1"), for: key("a"))
        let copied = try store.generation()
        table.afterCopying.withLock { action in
            action = { () throws(StoreError) in
                try store.commit(Cancellation(.standard)) { (transaction, change) throws(StoreError) in
                    change.manifest.generation += 1
                }
            }
        }
        var walked: UInt64 = 0
        try VaultCopy(vault: store, cancellation: Cancellation(.standard)).withWalk(copyingFrom: 0) {
            (walk) throws(StoreError) in
            walked = walk.state.manifest.generation
        }
        let now = try store.generation()
        #expect(walked == copied && now > copied)
    }
}
