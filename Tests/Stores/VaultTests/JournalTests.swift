import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets
import LatchkeyVault
import Testing

/// A journal beside the vault that SQLite never wrote.
@Suite struct JournalTests {
    /// Found by fuzzing: people were told to look at the file's mode.
    @Test func `a header that says there is a log, without its page but with a journal, is no vault`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        var bytes = try folder.contents().prefix(49)
        bytes[19] = 2
        try folder.replace(with: Array(bytes))
        try folder.replace(folder.vault + "-journal", with: [UInt8](repeating: 0, count: 600))
        let refused = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(refused?.code == .corrupted && refused?.cause.text.contains("length") == true)
    }

    /// A journal that undoes nothing and names a super-journal: SQLite would delete that file after playing it back
    /// (pager.c, pager_delsuper).
    private func journal(naming path: String) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        let name = Array(path.utf8)
        var bytes = magic + number(0) + number(7) + number(0) + number(512) + number(4096)
        bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
        // The page with the lock bytes can't be in a journal, so its number marks the name.
        bytes += number(0x4000_0000 / 4096 + 1) + name + number(UInt32(name.count))
        return bytes + number(name.reduce(0) { $0 + UInt32($1) }) + magic
    }

    @Test(arguments: [false, true])
    func `a journal can't make another process delete another file`(isWriting: Bool) async throws {
        let folder = try VaultFolder()
        let key = try CredentialKey(service: "example.org", account: "ada")
        try await folder.store().save(secret("hunter2"), for: key)
        let victim = folder.path + "/diary"
        try folder.replace(victim, with: Array("dear diary".utf8))
        try folder.replace(folder.vault + "-journal", with: journal(naming: victim))
        do throws(StoreError) {
            let store = try await folder.store()
            if isWriting { try await store.save(secret("other"), for: key) }
            _ = try await store.read(key, as: Password.self)
        } catch {
            #expect(error.code == .corrupted)
        }
        #expect(try folder.contents(victim) == Array("dear diary".utf8))
    }

    /// Found by the fuzzer: the vault became 16 TiB of nothing, and `verify` walked through it until its deadline.
    @Test(arguments: [0xFFFF_FF00, 0x0100_0000, 0x0002_0000])
    func `a journal of a vault that was much larger is damage, and changes nothing`(pageCount: Int) async throws {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let folder = try VaultFolder()
        let key = try CredentialKey(service: "example.org", account: "ada")
        try await folder.store().save(secret("hunter2"), for: key)
        let before = try folder.contents()
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        var journal = magic + number(0) + number(7) + number(pageCount) + number(512) + number(4096)
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        try folder.replace(folder.vault + "-journal", with: journal)
        for _ in 0..<2 {
            let error = await refusal { () async throws(StoreError) in
                try await folder.store().read(key, as: Password.self) != nil
            }
            #expect(error?.code == .corrupted)
        }
        #expect(try folder.contents() == before)
        // What the journal was for is lost, and nothing else: without it the vault is as it was.
        try FileManager.default.removeItem(atPath: folder.vault + "-journal")
        #expect(try await folder.store().verify().problems == [])
    }

    /// Found by the fuzzer: it was told as a disk that can't be written.
    @Test(arguments: [512, 1024, 8192])
    func `a journal of pages of another size is damage, and changes nothing`(size: Int) async throws {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let folder = try VaultFolder()
        let key = try CredentialKey(service: "example.org", account: "ada")
        let store = try await folder.store()
        try await store.save(secret("hunter2"), for: key)
        // Pages of each size fill it: SQLite cuts what is over first.
        var more = 0
        while try folder.contents().count % 8192 != 0 {
            more += 1
            try await store.save(secret("more"), for: VaultTests.key("\(more)"))
        }
        let before = try folder.contents()
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        var journal = magic + number(1) + number(7) + number(before.count / size) + number(512) + number(size)
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        // One page of zeros, whose checksum is the number that it begins with.
        journal += number(2) + [UInt8](repeating: 0, count: size) + number(7)
        try folder.replace(folder.vault + "-journal", with: journal)
        let error = await refusal { () async throws(StoreError) in
            try await folder.store().read(key, as: Password.self) != nil
        }
        #expect(error?.code == .corrupted)
        #expect(try folder.contents() == before)
    }
}
