import Foundation
import LatchkeyCredentials
import LatchkeyLog
import Synchronization
import Testing
import TestServices

@testable import LatchkeyVault

/// A file that is put back to an older state as a whole, and the memory that tells.
@Suite struct RollbackTests {
    private static func memory(_ folder: VaultFolder, _ choice: RollbackChoice = .refuse) -> RollbackMemory {
        RollbackMemory(directory: folder.path + "/state/vaults", onRollback: choice)
    }

    private func open(
        _ folder: VaultFolder, _ memory: RollbackMemory?, at path: String? = nil
    ) async throws(StoreError) -> VaultStore {
        try await VaultStore.open(at: path ?? folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory)
    }

    private func code(opening folder: VaultFolder, _ memory: RollbackMemory?) async -> StoreError.Code? {
        await refusal { () async throws(StoreError) in try await open(folder, memory) }?.code
    }

    /// A vault at generation 4, of which the memory has seen generation 6, and the older file.
    private func rolledBack() async throws -> (VaultFolder, newer: [UInt8]) {
        let folder = try VaultFolder()
        try await folder.store()
        let store = try await open(folder, Self.memory(folder))
        for name in ["a", "b", "c"] { try await store.save(secret(name), for: key(name)) }
        let old = try folder.contents()
        for name in ["c", "d"] { try await store.save(secret("newer"), for: key(name)) }
        let newer = try folder.contents()
        try folder.replace(with: old)
        return (folder, newer)
    }

    /// The one file of the memory.
    private func file(_ folder: VaultFolder) throws -> String {
        let directory = Self.memory(folder).directory
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return directory + "/" + (try #require(names.count == 1 ? names[0] : nil))
    }

    @Test func `an older copy is refused until it is accepted, and then is the newest`() async throws {
        let (folder, newer) = try await rolledBack()
        let remembered = try folder.contents(try file(folder))
        let error = await refusal { () async throws(StoreError) in try await open(folder, Self.memory(folder)) }
        #expect(error?.code == .rolledBack)
        #expect(error?.hint?.text.contains("accept-rollback") == true)
        #expect(error?.cause.text.contains("4") == true && error?.cause.text.contains("6") == true)
        // Refusing it once more, and looking at it, change nothing.
        let seen = VaultRollback(generation: 4, seenGeneration: 6)
        let looked = try await open(folder, Self.memory(folder, .report))
        #expect(looked.rollback == .rolledBack(seen))
        #expect(try await looked.verify().problems == [.rolledBack(seen)])
        #expect(try folder.contents(try file(folder)) == remembered)
        #expect(await code(opening: folder, Self.memory(folder)) == .rolledBack)

        #expect(try await open(folder, Self.memory(folder, .accept)).rollback == .rolledBack(seen))
        let store = try await open(folder, Self.memory(folder))
        #expect(store.rollback == .current)
        #expect(try await store.text(key("c")) == "c")
        #expect(try await store.verify().problems == [])
        // From here on it is remembered anew: what was accepted is an older copy itself after two more saves.
        let accepted = try folder.contents()
        for name in ["e", "f"] { try await store.save(secret(name), for: key(name)) }
        try folder.replace(with: accepted)
        #expect(await code(opening: folder, Self.memory(folder)) == .rolledBack)
        // The one that was given up has as many transactions and another content.
        try folder.replace(with: newer)
        #expect(await code(opening: folder, Self.memory(folder)) == .rolledBack)
    }

    @Test func `each kind of change is remembered before it returns`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let changes: [(StoreError.Code, @Sendable (VaultStore) async throws -> Void)] = [
            (.rolledBack, { try await $0.save(secret("1"), for: key("a")) }),
            (.rolledBack, { try await $0.delete(key("a")) }),
            (.rolledBack, { try await $0.addSlot(passphrase("p"), name: .passphrase, cost: .cheap) }),
            (.rolledBack, { try await $0.removeSlot(.passphrase) }),
            // The older copy is another key's, under which what is remembered doesn't open.
            (.rolledBack, { try await $0.rekey() }),
            (.rolledBack, { try await $0.save(secret("2"), for: key("a")) }),
        ]
        for (expected, change) in changes {
            let before = try folder.contents()
            try await change(try await open(folder, Self.memory(folder)))
            let after = try folder.contents()
            try folder.replace(with: before)
            #expect(await code(opening: folder, Self.memory(folder)) == expected)
            try folder.replace(with: after)
            #expect(await code(opening: folder, Self.memory(folder)) == nil)
        }
    }

    @Test func `other processes' changes are recorded once seen, by opening and by reading`() async throws {
        let folder = try VaultFolder()
        let other = try await folder.store()
        let reader = try await open(folder, Self.memory(folder))
        #expect(reader.rollback == .firstSeen)
        var old = try folder.contents()
        try await other.save(secret("1"), for: key("a"))
        _ = try await reader.text(key("a"))
        let read = try folder.contents()
        try folder.replace(with: old)
        #expect(await code(opening: folder, Self.memory(folder)) == .rolledBack)
        try folder.replace(with: read)
        old = read
        try await other.save(secret("2"), for: key("a"))
        #expect(try await open(folder, Self.memory(folder)).rollback == .current)
        try folder.replace(with: old)
        #expect(await code(opening: folder, Self.memory(folder)) == .rolledBack)
    }

    @Test func `without a rollback record nothing is written outside the vault, and nothing noticed`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let old = try folder.contents()
        try await store.save(secret("1"), for: key("a"))
        try folder.replace(with: old)
        #expect(try await open(folder, nil).rollback == .notAsked)
        #expect(folder.names == ["key", "vault", "vault-journal"])
    }

    @Test(arguments: [false, true])
    func `an open store refuses an older copy, and its verify reports it`(_ changesSlots: Bool) async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let old = try folder.contents()
        if changesSlots {
            try await store.addSlot(passphrase("p"), name: .passphrase, cost: .cheap)
        } else {
            try await store.save(secret("1"), for: key("a"))
        }
        try folder.replace(with: old)
        let error = await refusal { () async throws(StoreError) in try await store.text(key("a")) }
        #expect(error?.code == .rolledBack)
        let refused = await refusal { () async throws(StoreError) in try await store.save(secret("2"), for: key("b")) }
        #expect(refused?.code == .rolledBack)
        #expect(
            try await store.verify().problems == [.rolledBack(VaultRollback(generation: 1, seenGeneration: 2))])
        #expect(try folder.contents() == old)
    }

    @Test func `an open store refuses a copy that was changed as often elsewhere, and its verify reports it`()
        async throws
    {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let copy = folder.path + "/copy"
        try folder.replace(copy, with: try folder.contents())
        try await store.save(secret("mine"), for: key("a"))
        try await open(folder, nil, at: copy).save(secret("other"), for: key("a"))
        try await Program("/usr/bin/python3").run([InUseTests.script, copy, "touch"]).successful("touch")
        try folder.replace(with: try folder.contents(copy))
        for refused in [
            await refusal { () async throws(StoreError) in try await store.text(key("a")) },
            await refusal { () async throws(StoreError) in try await store.save(secret("next"), for: key("b")) },
        ] {
            #expect(refused?.code == .rolledBack)
            #expect(refused?.cause.text.contains("this copy differs") == true)
        }
        #expect(
            try await store.verify().problems == [.rolledBack(VaultRollback(generation: 2, seenGeneration: 2))])
        #expect(try folder.contents() == folder.contents(copy))
    }

    @Test func `two vaults in one directory have separate records`() async throws {
        let (folder, newer) = try await rolledBack()
        let second = folder.path + "/second"
        _ = try await VaultStore.create(
            at: second, unlockedBy: .keyFile(folder.keyFile), memory: Self.memory(folder))
        #expect(try await open(folder, Self.memory(folder), at: second).rollback == .current)
        #expect(await code(opening: folder, Self.memory(folder)) == .rolledBack)
        try folder.replace(with: newer)
        #expect(await code(opening: folder, Self.memory(folder)) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: Self.memory(folder).directory).count == 2)
    }

    @Test func `a copy on another machine opens there, whatever its age`() async throws {
        let (folder, _) = try await rolledBack()
        let elsewhere = RollbackMemory(directory: folder.path + "/elsewhere")
        #expect(try await open(folder, elsewhere).rollback == .firstSeen)
        #expect(try await open(folder, elsewhere).rollback == .current)
    }

    @Test(arguments: ["", "seen", "/tmp/seen\0x"])
    func `a memory without an absolute path opens nothing`(directory: String) async throws {
        let folder = try VaultFolder()
        withExtendedLifetime(try await folder.store()) {}
        let error = await refusal { () async throws(StoreError) in
            try await open(folder, RollbackMemory(directory: directory))
        }
        #expect(error?.code == .permissionDenied)
    }

    @Test func `of two copies with equally many changes only the seen one opens`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let copy = folder.path + "/copy"
        try folder.replace(copy, with: try folder.contents())
        let other = try await open(folder, nil, at: copy)
        let mine = try await open(folder, Self.memory(folder))
        withExtendedLifetime(store) {}
        try await mine.save(secret("mine"), for: key("a"))
        try await other.save(secret("other"), for: key("a"))
        let error = await refusal { () async throws(StoreError) in
            try await open(folder, Self.memory(folder), at: copy)
        }
        #expect(error?.code == .rolledBack)
        #expect(error?.cause.text.contains("this copy differs") == true)
    }

    // MARK: - Changed by others since

    private static func host(_ name: String, _ folder: VaultFolder, _ choice: RollbackChoice = .refuse)
        -> RollbackMemory
    {
        RollbackMemory(directory: folder.path + "/" + name, onRollback: choice)
    }

    private func save(_ text: String, _ folder: VaultFolder, _ memory: RollbackMemory?) async throws {
        try await open(folder, memory).save(secret(text), for: key(text))
    }

    private func manifest(_ folder: VaultFolder) async throws -> Manifest {
        try await open(folder, nil).known.withLock { $0.manifest }
    }

    /// Generation 2 is a save of host a, which also made the lost generation 3; b has saved until generation 5 since.
    private func lossy(_ folder: VaultFolder) async throws {
        try await folder.store()
        try await save("1", folder, Self.host("a", folder))
        let old = try folder.contents()
        try await save("lost", folder, Self.host("a", folder))
        try folder.replace(with: old)
        for text in ["2", "3", "4"] { try await save(text, folder, Self.host("b", folder)) }
    }

    @Test func `a host whose save was lost refuses the vault, however often others have saved since`() async throws {
        let folder = try VaultFolder()
        try await lossy(folder)
        let a = Self.host("a", folder)
        let error = await refusal { () async throws(StoreError) in try await open(folder, a) }
        #expect(error?.code == .rolledBack)
        #expect(
            error?.cause.text.contains("generation 3 is missing, and others have saved since, until generation 5")
                == true,
            "\(error as Any)")
        // Looking at it, and saving all the same, doesn't hide that.
        let seen = RollbackCheck.rolledBack(VaultRollback(generation: 5, seenGeneration: 3))
        let looked = try await open(folder, Self.host("a", folder, .report))
        #expect(looked.rollback == seen)
        try await looked.save(secret("5"), for: key("5"))
        #expect(await code(opening: folder, a) == .rolledBack)
        // Those who lost nothing go on: who saved since, who only read, and who never was here.
        for name in ["b", "c"] { #expect(await code(opening: folder, Self.host(name, folder)) == nil) }

        #expect(
            try await open(folder, Self.host("a", folder, .accept)).rollback
                == .rolledBack(VaultRollback(generation: 6, seenGeneration: 3)))
        #expect(try await open(folder, a).rollback == .current)
        // And the same again.
        let old = try folder.contents()
        try await save("lost", folder, a)
        try folder.replace(with: old)
        for text in ["6", "7"] { try await save(text, folder, Self.host("b", folder)) }
        #expect(await code(opening: folder, a) == .rolledBack)
    }

    @Test func `an open store notices a lost save that it saw, also another host's`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try await save("1", folder, Self.host("a", folder))
        let old = try folder.contents()
        let (reader, writer) = (try await open(folder, nil), try await open(folder, Self.host("a", folder)))
        try await writer.save(secret("lost"), for: key("lost"))
        #expect(try await reader.text(key("lost")) == "lost")
        try folder.replace(with: old)
        for text in ["2", "3", "4"] { try await save(text, folder, Self.host("b", folder)) }
        for store in [reader, writer] {
            let refused = await refusal { () async throws(StoreError) in try await store.text(key("1")) }
            #expect(refused?.code == .rolledBack)
            let saving = await refusal { () async throws(StoreError) in try await store.save(secret("x"), for: key("x"))
            }
            #expect(saving?.code == .rolledBack)
        }
        #expect(
            try await reader.verify().problems == [.rolledBack(VaultRollback(generation: 5, seenGeneration: 3))])
    }

    /// It saved under the host's name, after which nothing showed the loss.
    @Test(arguments: [true, false], [true, false])
    func `a store that was open before a lost save refuses to hide it`(_ savesElsewhere: Bool, _ reads: Bool)
        async throws
    {
        let folder = try VaultFolder()
        try await folder.store()
        let a = Self.host("a", folder)
        try await save("1", folder, a)
        let store = try await open(folder, a)
        let old = try folder.contents()
        try await save("lost", folder, a)
        try folder.replace(with: old)
        if savesElsewhere { for text in ["2", "3", "4"] { try await save(text, folder, Self.host("b", folder)) } }
        for _ in 0..<2 {
            // Without others' saves, a reader sees what it saw last.
            if reads, savesElsewhere {
                let reading = await refusal { () async throws(StoreError) in try await store.text(key("1")) }
                #expect(reading?.code == .rolledBack)
            }
            // One that changes nothing is refused too: the next read would take its view for known.
            let deleting = await refusal { () async throws(StoreError) in try await store.delete(key("none")) }
            let saving = await refusal { () async throws(StoreError) in
                try await store.save(secret("x"), for: key("x"))
            }
            #expect(deleting?.code == .rolledBack && saving?.code == .rolledBack)
        }
        #expect(await code(opening: folder, a) == .rolledBack)
    }

    /// The original has saves of the host, which were newer than those to the accepted copy.
    @Test func `after an older copy was accepted and saved to, the original is refused`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let a = Self.host("a", folder)
        try await save("1", folder, a)
        let backup = try folder.contents()
        for text in ["2", "3", "4"] { try await save(text, folder, a) }
        let original = try folder.contents()
        try folder.replace(with: backup)
        withExtendedLifetime(try await open(folder, Self.host("a", folder, .accept))) {}
        let accepted = try folder.contents()
        try folder.replace(with: original)
        #expect(await code(opening: folder, a) == .rolledBack)
        try folder.replace(with: accepted)
        try await save("new", folder, a)
        try folder.replace(with: original)
        #expect(await code(opening: folder, a) == .rolledBack)
    }

    /// The new origin had no save, so nothing said what the accepted copy had.
    @Test func `what an accepted copy had can't be lost unseen, and accepting without need changes nothing`()
        async throws
    {
        let folder = try VaultFolder()
        try await folder.store()
        let (a, b) = (Self.host("a", folder), Self.host("b", folder))
        try await save("0", folder, b)
        let first = try folder.contents()
        try await save("1", folder, a)
        let backup = try folder.contents()
        #expect(try await open(folder, Self.host("a", folder, .accept)).rollback == .current)
        #expect(try folder.contents() == backup)
        try await save("2", folder, a)
        try folder.replace(with: backup)
        withExtendedLifetime(try await open(folder, Self.host("a", folder, .accept))) {}
        #expect(await code(opening: folder, a) == nil)
        try folder.replace(with: first)
        for text in ["3", "4", "5", "6"] { try await save(text, folder, b) }
        #expect(await code(opening: folder, a) == .rolledBack)
    }

    /// Each save had an origin of its own, and so all other hosts' entries made room.
    @Test func `all saves with a record that can't be written have one origin`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let a = Self.host("a", folder)
        withExtendedLifetime(try await open(folder, a)) {}
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: a.directory).first)
        let record = try folder.contents(a.directory + "/" + name)
        for text in ["1", "2", "3"] {
            try await save(text, folder, a)
            // As after a failed write.
            try folder.replace(a.directory + "/" + name, with: record)
        }
        #expect(try await manifest(folder).lastSaves.count == 1)
    }

    /// A save would hide what the record says.
    @Test func `a store whose record is damaged while it is open refuses to save, and reads on`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let a = Self.host("a", folder)
        let store = try await open(folder, a)
        try await store.save(secret("1"), for: key("a"))
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: a.directory).first)
        try folder.replace(a.directory + "/" + name, with: [UInt8](repeating: 1, count: 93))
        let refused = await refusal { () async throws(StoreError) in try await store.save(secret("2"), for: key("a")) }
        #expect(refused == .changedMemory)
        #expect(try await store.text(key("a")) == "1")
        withExtendedLifetime(try await open(folder, Self.host("a", folder, .accept))) {}
        try await store.save(secret("2"), for: key("a"))
        #expect(await code(opening: folder, a) == nil)
    }

    @Test func `after a rekeying by another host a lost save is still noticed`() async throws {
        let folder = try VaultFolder()
        try await lossy(folder)
        try await open(folder, Self.host("b", folder)).rekey()
        #expect(await code(opening: folder, Self.host("a", folder)) == .rolledBack)
        #expect(await code(opening: folder, Self.host("b", folder)) == nil)
    }

    @Test func `the manifest has one last save for each host, and the oldest makes room`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try await save("1", folder, nil)
        #expect(try await manifest(folder).lastSaves == [])
        try await save("2", folder, Self.host("a", folder))
        try await save("3", folder, Self.host("b", folder))
        let before = try await manifest(folder).lastSaves
        try await save("4", folder, Self.host("a", folder))
        try await save("5", folder, nil)
        let after = try await manifest(folder).lastSaves
        #expect(before.map(\.generation) == [3, 4] && after.map(\.generation) == [4, 5])
        #expect(before.map(\.origin) == after.map(\.origin).reversed())

        for number in 0..<Manifest.LastSave.maximumCount {
            try await save("\(number)", folder, Self.host("h\(number)", folder))
        }
        let full = try await manifest(folder).lastSaves
        #expect(full.count == Manifest.LastSave.maximumCount && full[0].generation == 7)
        #expect(!full.contains { save in after.contains { $0.origin == save.origin } })
        // The forgotten hosts don't take that for a loss, and are remembered again.
        #expect(await code(opening: folder, Self.host("a", folder)) == nil)
        try await save("6", folder, Self.host("b", folder))
        #expect(try await manifest(folder).lastSaves.last?.origin == after[0].origin)
        #expect(await code(opening: folder, Self.host("h0", folder)) == nil)
    }

    @Test func `a vault has the earlier format until a host with a rollback record saves`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        func format() throws -> UInt8? {
            try store.current { (view, _) throws(StoreError) in try view.record(IdentityRecord.recordName)?.first }
        }
        try await save("1", folder, nil)
        withExtendedLifetime(try await open(folder, Self.host("a", folder))) {}
        #expect(try format() == 2)
        // An earlier Latchkey still reads the record too, and goes on.
        let record = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/a").first)
        func length() throws -> Int { try folder.contents(folder.path + "/a/" + record).count }
        let shorter = GenerationMark.sealedByteCount - Manifest.LastSave.byteCount
        #expect(try length() == shorter)
        try await save("2", folder, Self.host("a", folder))
        #expect(try format() == 3 && length() == shorter + Manifest.LastSave.byteCount)
        // The open store, which has no record, goes on.
        try await store.save(secret("3"), for: key("3"))
        #expect(try await store.verify().problems == [])
        _ = try await store.rekey()
        #expect(try format() == 3)
        #expect(try await open(folder, Self.host("a", folder)).rollback == .current)
    }

    @Test func `a record without a save is replaced once another host has saved`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let memory = Self.memory(folder)
        withExtendedLifetime(try await open(folder, memory)) {}
        #expect(try folder.contents(try file(folder)).count < GenerationMark.sealedByteCount)
        let old = try folder.contents()
        try await save("1", folder, Self.host("b", folder))
        #expect(try await open(folder, memory).rollback == .current)
        #expect(try folder.contents(try file(folder)).count == GenerationMark.sealedByteCount)
        try folder.replace(with: old)
        #expect(await code(opening: folder, memory) == .rolledBack)
    }
}

/// The memory itself: what others can do to it, and what keeps it from being written.
@Suite struct VaultMemoryTests {
    private func vault(memory: RollbackMemory? = nil) async throws -> (VaultFolder, RollbackMemory) {
        let folder = try VaultFolder()
        let memory = memory ?? RollbackMemory(directory: folder.path + "/state/vaults")
        try VaultKeyFile.create(at: folder.keyFile)
        let store = try await VaultStore.create(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory)
        try await store.save(secret("1"), for: key("a"))
        return (folder, memory)
    }

    private func open(_ folder: VaultFolder, _ memory: RollbackMemory) async throws(StoreError) -> VaultStore {
        try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory)
    }

    private func code(_ folder: VaultFolder, _ memory: RollbackMemory) async -> StoreError.Code? {
        await refusal { () async throws(StoreError) in try await open(folder, memory) }?.code
    }

    private func file(_ memory: RollbackMemory) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: memory.directory)
        return memory.directory + "/" + (try #require(names.count == 1 ? names[0] : nil))
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `the rollback record is a private sealed file, and doesn't show the generation`() async throws {
        let (folder, memory) = try await vault()
        let file = try file(memory)
        #expect(try mode(file) == 0o600)
        #expect(try mode(memory.directory) == 0o700 && mode(folder.path + "/state") == 0o700)
        let store = try await open(folder, memory)
        let bytes = Data(try folder.contents(file))
        #expect(bytes.count == GenerationMark.sealedByteCount)
        #expect(bytes.range(of: Data(store.keys.vault.bytes)) == nil)
        // The same state is written differently each time.
        try folder.replace(file, with: [])
        #expect(try await open(folder, memory).rollback == .firstSeen)
        #expect(Data(try folder.contents(file)) != bytes)
    }

    @Test func `a rollback record that was changed without the key is refused, and accepting replaces it`() async throws
    {
        let (folder, memory) = try await vault()
        let (other, otherMemory) = try await vault()
        let path = try file(memory)
        let sound = try folder.contents(path)
        var forged = sound.indices.map { index in
            var bytes = sound
            bytes[index] ^= 1 << UInt8(index % 8)
            return bytes
        }
        forged += (1..<sound.count).map { Array(sound.prefix($0)) }
        forged += [sound + [0], sound + sound, [UInt8](repeating: 0, count: sound.count)]
        forged.append(try other.contents(try file(otherMemory)))
        for bytes in forged {
            try folder.replace(path, with: bytes)
            let code = await code(folder, memory)
            let after = try folder.contents(path)
            #expect(code == .rolledBack && after == bytes)
        }
        // Reading and saving through a store that was open goes on and leaves it as it is.
        var report = memory
        report.onRollback = .report
        let store = try await open(folder, report)
        #expect(store.rollback == .unreadable)
        #expect(try await store.verify().problems == [.changedMemory])
        try await store.save(secret("2"), for: key("a"))
        #expect(try folder.contents(path) == forged.last)

        var accept = memory
        accept.onRollback = .accept
        // A longer one too, of which the end stayed.
        for bytes in [forged.last!, [UInt8](repeating: 1, count: 300)] {
            try folder.replace(path, with: bytes)
            #expect(try await open(folder, accept).rollback == .unreadable)
            #expect(try await open(folder, memory).rollback == .current)
        }
    }

    @Test func `an empty or missing rollback record counts as the first look`() async throws {
        let (folder, memory) = try await vault()
        let path = try file(memory)
        try folder.replace(path, with: [])
        #expect(try await open(folder, memory).rollback == .firstSeen)
        #expect(try await open(folder, memory).rollback == .current)
        try FileManager.default.removeItem(atPath: path)
        #expect(try await open(folder, memory).rollback == .firstSeen)
        #expect(try await open(folder, memory).rollback == .current)
    }

    @Test func `a rollback record that others could have written is refused`() async throws {
        let (folder, memory) = try await vault()
        let path = try file(memory)
        for mode in [0o640, 0o604, 0o620, 0o602] {
            try folder.setMode(mode, of: path)
            #expect(await code(folder, memory) == .permissionDenied)
        }
        try folder.setMode(0o600, of: path)
        for mode in [0o770, 0o707, 0o750, 0o701] {
            try folder.setMode(mode, of: memory.directory)
            #expect(await code(folder, memory) == .permissionDenied)
        }
        try folder.setMode(0o700, of: memory.directory)
        let second = folder.path + "/second"
        try FileManager.default.linkItem(atPath: path, toPath: second)
        #expect(await code(folder, memory) == .permissionDenied)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: second)
        #expect(await code(folder, memory) == .permissionDenied)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: second, toPath: path)
        let real = memory.directory + ".real"
        try FileManager.default.moveItem(atPath: memory.directory, toPath: real)
        try FileManager.default.createSymbolicLink(atPath: memory.directory, withDestinationPath: real)
        #expect(await code(folder, memory) == .permissionDenied)
    }

    // MARK: - Where it can't be written

    @Test func `an unusable state directory doesn't prevent reading and saving, and is logged`()
        async throws
    {
        let sink = MemoryLogSink()
        let folder = try VaultFolder()
        try folder.replace(folder.path + "/file", with: [1])
        // Below a file nothing can be made, by root neither.
        let memory = RollbackMemory(
            directory: folder.path + "/file/vaults", logger: RedactedLogger("test", minimumLevel: .info, sink: sink))
        _ = try await folder.store()
        let store = try await open(folder, memory)
        guard case .unavailable(let error) = store.rollback else {
            Issue.record("\(store.rollback)")
            return
        }
        #expect(error.platform == .errno(ENOTDIR))
        for text in ["1", "2"] { try await store.save(secret(text), for: key("a")) }
        #expect(try await store.text(key("a")) == "2")
        #expect(try await store.verify().problems == [])
        #expect(sink.records.map(\.level) == [.info, .warning])
        let refused = await refusal { () async throws(StoreError) in
            try await open(folder, RollbackMemory(directory: memory.directory, onRollback: .accept))
        }
        #expect(refused != nil)
    }

    @Test func `a read-only rollback record still counts, and an unreadable one prevents nothing`()
        async throws
    {
        let (folder, memory) = try await vault()
        let old = try folder.contents()
        try await open(folder, memory).save(secret("2"), for: key("a"))
        let path = try file(memory)
        try folder.setMode(0o400, of: path)
        try folder.setMode(0o500, of: memory.directory)
        #expect(try await open(folder, memory).rollback == .current)
        try await open(folder, memory).save(secret("3"), for: key("a"))
        #expect(try await open(folder, memory).text(key("a")) == "3")
        try folder.replace(with: old)
        #expect(await code(folder, memory) == .rolledBack)
        // Root reads what has no mode at all; Tests/unprivileged runs this as somebody else.
        if geteuid() == 0 { return }
        try folder.setMode(0, of: path)
        guard case .unavailable = try await open(folder, memory).rollback else {
            Issue.record("it was read")
            return
        }
    }
}
