import LatchkeyCredentials
import LatchkeySecrets
import Testing

@testable import LatchkeyVault

/// Slots whose keys the caller keeps elsewhere.
@Suite struct KeptKeyTests {
    private let folder: VaultFolder

    init() throws {
        folder = try VaultFolder()
    }

    private func problem(_ source: consuming VaultKeySource) async -> StoreError? {
        do throws(StoreError) {
            _ = try await VaultStore.open(at: folder.vault, unlockedBy: source)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a vault with a stored key opens with it, and its file has the key's name`()
        async throws
    {
        let reference = try KeySlotReference.ofNewVault()
        let kept = try Secret<VaultSlotKey>.random(byteCount: 32)
        let made = try await VaultStore.create(
            at: folder.vault, unlockedBy: .keptKey(kept.duplicate(), of: reference))
        try await made.save(secret("s3cret"), for: key("ada"))
        let locked = try await LockedVault.open(at: folder.vault)
        #expect(locked.slots.map(\.reference) == [reference])
        #expect(locked.slots.map(\.kind) == [.secretService])
        let opened = try await VaultStore.open(
            at: folder.vault, unlockedBy: .keptKey(kept, of: locked.slots[0].reference))
        #expect(try await opened.text(key("ada")) == "s3cret")
        #expect(try await opened.slots().map(\.name) == [.secretService])
    }

    @Test func `each of several kept keys opens its own slot`() async throws {
        let store = try await folder.store()
        let (first, second) = (try store.newSlotReference(), try store.newSlotReference())
        #expect(first != second && first.text != second.text)
        let one = try Secret<VaultSlotKey>.random(byteCount: 32)
        let two = try Secret<VaultSlotKey>.random(byteCount: 32)
        try await store.addSlot(.keptKey(one.duplicate(), of: first), name: KeySlotName("1")!)
        try await store.addSlot(.keptKey(two.duplicate(), of: second), name: KeySlotName("2")!)
        #expect(await problem(.keptKey(one.duplicate(), of: first)) == nil)
        #expect(await problem(.keptKey(two.duplicate(), of: second)) == nil)
        #expect(await problem(.keptKey(one.duplicate(), of: second))?.code == .wrongKey)
    }

    @Test(arguments: [0, 31, 33]) func `a stored key of another length is refused`(_ count: Int) async throws {
        let store = try await folder.store()
        let reference = try store.newSlotReference()
        try await store.addSlot(.keptKey(try .random(byteCount: 32), of: reference), name: .secretService)
        let before = try folder.contents()
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(await problem(.keptKey(Secret(copying: bytes.span), of: reference))?.code == .wrongKey)
        let added = await refusal { () async throws(StoreError) in
            try await store.addSlot(
                .keptKey(Secret(copying: bytes.span), of: try store.newSlotReference()), name: KeySlotName("new")!)
        }
        #expect(added?.code == .wrongKey)
        #expect(try folder.contents() == before)
    }

    @Test func `a stored key of another vault makes no slot here`() async throws {
        let store = try await folder.store()
        let error = await refusal { () async throws(StoreError) in
            try await store.addSlot(.keptKey(try! .random(byteCount: 32), of: .ofNewVault()), name: .secretService)
        }
        #expect(error?.code == .unsupported)
        #expect(try await store.slots().count == 1)
    }
}
