import Foundation
import LatchkeyCredentials
import LatchkeyLog
import Testing
import TestServices

@testable import LatchkeyVault

/// Vaults that someone else makes for a slot's holder, so that they save their secrets into them.
///
/// The forger is a program in Python that knows the format's document and nothing of this code.
@Suite struct ForgeryTests {
    private let folder: VaultFolder
    private var memory: RollbackMemory { RollbackMemory(directory: folder.path + "/state") }

    /// A vault with the slots of a holder (`key`) and of a colleague (`colleague`).
    init() async throws {
        folder = try VaultFolder()
        let store = try await folder.store()
        try VaultKeyFile.create(at: folder.path + "/colleague")
        try await store.addSlot(.keyFile(folder.path + "/colleague"), name: KeySlotName("colleague")!)
        try await store.save(secret("genuine"), for: key("ada"))
    }

    private func forge(_ arguments: String...) async throws {
        try await Program("/usr/bin/python3").run([InUseTests.script, folder.vault] + arguments).successful("forge")
    }

    private func open(_ memory: RollbackMemory? = nil) async throws(StoreError) -> VaultStore {
        try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory)
    }

    /// Copies of one long page were gigabytes, and a long name ended the process.
    @Test(arguments: [
        ("longmetadata", "too long"), ("longname", "too long"), ("longrecord", "too long"), ("longrecords", "too long"),
    ])
    func `rows that are longer than a vault's are refused before they are copied`(attack: String, words: String)
        async throws
    {
        try await forge(attack)
        let error = await refusal { () async throws(StoreError) in
            let store = try await VaultStore.open(
                at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .never)
            _ = try await store.list().all()
        }
        #expect(error?.code == .corrupted)
        #expect(error?.cause.text.contains(words) == true, "\(String(describing: error))")
    }

    /// A copy of the whole file filled the disk with what wasn't there.
    @Test func `a hole behind the pages is reported, and not copied`() async throws {
        let store = try await folder.store()
        let cancellation = Cancellation(.standard)
        #expect(try store.file.copy(cancellation, from: 0) != nil)
        #expect(unsafe truncate(folder.vault, 64 << 20) == 0)
        #expect(try store.file.copy(cancellation, from: 0) == nil)
        #expect(try await store.verify().problems.contains(.wrongLength))
        #expect(try await store.text(key("ada")) == "genuine")
    }

    @Test func `a forger without a key makes no vault that a slot's holder opens`() async throws {
        try await forge("forge")
        let forged = try folder.contents()
        for path in [folder.keyFile, folder.path + "/colleague"] {
            let error = await refusal { () async throws(StoreError) in
                try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(path))
            }
            #expect(error?.code == .wrongKey)
        }
        #expect(try folder.contents() == forged)
    }

    /// Shows that it is the pre-shared key that the forger lacks, and nothing else.
    @Test func `with the holder's own key the same program makes a vault that opens`() async throws {
        try await forge("forge-holding", folder.keyFile)
        #expect(try await open().text(key("ada")) == "forged")
    }

    @Test func `an open store accepts no forged vault as a rekeyed one`() async throws {
        let store = try await folder.store()
        #expect(try await store.text(key("ada")) == "genuine")
        try await forge("forge")
        let refused = await refusal { () async throws(StoreError) in try await store.text(key("ada")) }
        #expect(refused?.code == .wrongKey)
    }

    @Test func `an open store accepts no vault forged with its own key either`() async throws {
        let store = try await folder.store()
        #expect(try await store.text(key("ada")) == "genuine")
        try await forge("forge-holding", folder.keyFile)
        let refused = await refusal { () async throws(StoreError) in try await store.text(key("ada")) }
        #expect(refused?.code == .rolledBack)
    }

    /// What Docs/Explanation/threats.md says of a removed holder: towards those who were away since, and to nobody else.
    @Test func `a removed holder who can write the file deceives only readers who haven't seen the new key`()
        async throws
    {
        let away = memory
        _ = try await open(away)
        let present = RollbackMemory(directory: folder.path + "/present")
        let old = folder.path + "/old"
        try folder.replace(old, with: try folder.contents())
        let store = try await open(present)
        try await store.removeSlot(KeySlotName("colleague")!)
        try await store.rekey()
        try await forge("forge-knowing", folder.keyFile, old, folder.path + "/colleague")
        // Who was away can't tell: in their eyes someone with the root key of then has rekeyed the vault.
        #expect(try await open(away).text(key("ada")) == "forged")
        // Who saw the vault under its new key can, and so can a store that is open.
        let refused = await refusal { () async throws(StoreError) in try await open(present) }
        #expect(refused?.code == .rolledBack)
        let inUse = await refusal { () async throws(StoreError) in try await store.text(key("ada")) }
        #expect(inUse?.code == .rolledBack)
    }

    @Test func `a reader who was away for sixteen rekeyings still knows the vault, and for one more asks`() async throws
    {
        let away = memory
        _ = try await open(away)
        let store = try await folder.store()
        for _ in 0..<FormerKeys.capacity { try await store.rekey() }
        let sixteen = try folder.contents()
        try await store.rekey()
        let refused = await refusal { () async throws(StoreError) in try await open(away) }
        #expect(refused?.code == .rolledBack)
        try folder.replace(with: sixteen)
        #expect(try await open(away).rollback == .current)
    }
}
