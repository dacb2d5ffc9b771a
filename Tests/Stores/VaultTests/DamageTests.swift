import LatchkeyCredentials
import TestServices
import Testing

@testable import LatchkeyVault

/// A vault that was damaged: the right error, never a wrong secret, an untouched file.
@Suite struct DamageTests {
    private static let codes: Set<StoreError.Code> = [.corrupted, .wrongKey, .unsupported]

    /// A vault with two items, closed.
    private func sampleVault() async throws -> (VaultFolder, [UInt8]) {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("alpha"), for: key("ada"), options: SaveOptions(label: "first"))
        try await store.save(secret("beta"), for: key("bob", service: "example.net"))
        return (folder, try folder.contents())
    }

    /// Everything that can be asked of the vault; what was noticed, or `nil` when all of it was right.
    private func complaint(_ folder: VaultFolder) async throws -> StoreError.Code? {
        do throws(StoreError) {
            let store = try await folder.store()
            let first = try await store.text(key("ada"))
            let second = try await store.text(key("bob", service: "example.net"))
            let listed = try await store.list().all()
            // Whatever was damaged: no wrong secret and no wrong name.
            guard first == "alpha", second == "beta", Set(listed.map(\.key.account)) == ["ada", "bob"] else {
                Issue.record("a damaged vault gave wrong answers")
                return nil
            }
            return try await store.verify().isSound ? nil : .corrupted
        } catch {
            return error.code
        }
    }

    @Test func `a flipped bit anywhere in the file is noticed, and the file stays unchanged`() async throws {
        let (folder, sound) = try await sampleVault()
        #expect(try await complaint(folder) == nil)
        for index in stride(from: 0, to: sound.count, by: runsLong ? 1 : 13) {
            var damaged = sound
            damaged[index] ^= 1 << UInt8(index % 8)
            try folder.replace(with: damaged)
            let code = try await complaint(folder)
            #expect(
                code.map { Self.codes.contains($0) } == true, "byte \(index): \(code.map { "\($0)" } ?? "unnoticed")")
            let after = try folder.contents()
            #expect(after == damaged, "byte \(index): the file was changed")
        }
    }

    @Test func `a file that is cut off anywhere is refused, and stays unchanged`() async throws {
        let (folder, sound) = try await sampleVault()
        for length in stride(from: 0, to: sound.count, by: runsLong ? 1 : 64) {
            let cut = Array(sound.prefix(length))
            try folder.replace(with: cut)
            let error = await refusal { () async throws(StoreError) in try await folder.store() }
            #expect(error?.code == .corrupted, "\(length) bytes")
            let after = try folder.contents()
            #expect(after == cut, "\(length) bytes: the file was changed")
        }
    }

    /// Its 16th to 20th bytes. With another version of the format a save was told to look at the file's mode.
    @Test(
        arguments: [
            [16, 0, 1, 1, 0], [16, 0, 1, 1, 7], [16, 0, 1, 1, 9], [16, 0, 1, 1, 16], [2, 0, 1, 1, 8],
            [8, 0, 1, 1, 8], [32, 0, 1, 1, 8], [0, 1, 1, 1, 8], [16, 0, 3, 1, 8], [16, 0, 2, 1, 8], [16, 0, 1, 3, 8],
            [16, 0, 2, 2, 8],
        ] as [[UInt8]])
    func `a sealed header with other page settings is refused`(_ forged: [UInt8]) async throws {
        let (folder, sound) = try await sampleVault()
        var page = Array(sound.prefix(4096))
        for (index, byte) in zip(16..., forged) { page[index] = byte }
        var span = page.mutableSpan
        PageSealedFiles.seal(page: 1, &span)
        try folder.replace(with: page + sound.dropFirst(4096))
        #expect(try await complaint(folder) == .corrupted)
    }

    @Test func `bytes behind the end are noticed by verify`() async throws {
        let (folder, sound) = try await sampleVault()
        try folder.replace(with: sound + sound.suffix(4096))
        let report = try await folder.store().verify()
        #expect(report.problems.contains(.wrongLength))
    }

    @Test func `a key file's path isn't cut at a NUL`() async throws {
        let folder = try VaultFolder()
        let path = folder.keyFile + "\0x"
        let creation = #expect(throws: StoreError.self) { try VaultKeyFile.create(at: path) }
        #expect(creation?.code == .permissionDenied)
        try VaultKeyFile.create(at: folder.keyFile)
        let reading = await #expect(throws: StoreError.self) {
            _ = try await VaultStore.create(at: folder.path + "/other", unlockedBy: .keyFile(path))
        }
        #expect(reading?.code == .permissionDenied)
    }

    @Test(arguments: ["", "not a vault at all", "SQLite format 3"])
    func `a file that isn't a vault is refused`(_ start: String) async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        // The third has the NUL that follows those words in a database.
        let filler: UInt8 = start.hasPrefix("SQLite") ? 0 : 0x41
        let bytes = Array(start.utf8) + [UInt8](repeating: filler, count: 8192 - start.utf8.count)
        try folder.replace(with: bytes)
        let error = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(error?.code == .corrupted)
        #expect(try folder.contents() == bytes)
    }

    @Test func `a write to a damaged vault is refused and changes nothing`() async throws {
        let (folder, sound) = try await sampleVault()
        let store = try await folder.store()
        var damaged = sound
        // The last page holds the records; in its middle is free space, which only the checksum covers.
        damaged[sound.count - 3000] ^= 1
        try folder.replace(with: damaged)
        let error = await refusal { () async throws(StoreError) in
            try await store.save(secret("gamma"), for: key("ada"))
        }
        #expect(error?.code == .corrupted)
        #expect(try folder.contents() == damaged)
    }

    @Test func `an open store reports damage of any page by its position`() async throws {
        let (folder, sound) = try await sampleVault()
        let store = try await folder.store()
        for page in 0..<sound.count / 4096 {
            var damaged = sound
            damaged[page * 4096 + 2000] ^= 1
            try folder.replace(with: damaged)
            // Another connection: the first has good pages in its memory.
            let report = try await store.verify()
            #expect(report.problems.contains(.damagedPage(page + 1)), "\(report.problems)")
        }
        try folder.replace(with: sound)
        #expect(try await store.verify().problems == [])
    }

    @Test(arguments: [0, 2, 4095, 5000])
    func `a file that is cut off beside a useless journal is refused too`(_ length: Int) async throws {
        let (folder, sound) = try await sampleVault()
        for journal in [[0], [UInt8](repeating: 0, count: 600)] {
            try folder.replace(with: Array(sound.prefix(length)))
            try folder.replace(folder.vault + "-journal", with: journal)
            let code = await refusal { () async throws(StoreError) in try await folder.store() }?.code
            #expect(code == .corrupted)
        }
    }

    @Test func `the error for a newer format says that it is newer`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let table = try SQLiteRowTable(path: folder.vault)
        try table.write(Cancellation(.standard)) { (transaction) throws(StoreError) in
            try transaction.put(record: "vault", [4] + [UInt8](repeating: 7, count: 40))
        }
        let error = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(error?.code == .unsupported)
    }
}

/// XXH64, and what it is for.
@Suite struct PageChecksumTests {
    /// The first three are published everywhere; the others are what libxxhash 0.8.1 says.
    @Test(
        arguments: [
            ("", 0, 0xEF46_DB37_51D8_E999), ("a", 0, 0xD24E_C4F1_A98C_6E5B), ("abc", 0, 0x44BC_2CF5_AD77_0999),
            ("", 2_654_435_761, 0xAC75_FDA2_929B_17EF), ("abc", 2_654_435_761, 0x1318_DF30_094A_85FD),
            ("abcdefghijklmnopqrstuvwxyz0123456789", 0, 0x64F2_3ECF_1609_B766),
            ("abcdefghijklmnopqrstuvwxyz0123456789", 2_654_435_761, 0x3444_D3C7_9B39_7331),
        ] as [(String, UInt64, UInt64)])
    func `the page checksum is XXH64`(_ message: String, _ seed: UInt64, _ expected: UInt64) {
        let bytes = Array(message.utf8)
        let digest = PageChecksum.digest(bytes.span, seed: seed)
        #expect(digest == expected)
    }

    @Test(arguments: [(0, 0xE990_3849_5F85_381E), (2_654_435_761, 0xA1C6_D417_4C37_136D)] as [(UInt64, UInt64)])
    func `the page checksum of a message of several rounds is XXH64`(_ seed: UInt64, _ expected: UInt64) {
        let bytes = (0..<101).map { UInt8($0) }
        let digest = PageChecksum.digest(bytes.span, seed: seed)
        #expect(digest == expected)
    }

    @Test func `each flipped bit of a page is noticed, and a page in another's place`() {
        var page = (0..<4096).map { _ in UInt8.random(in: .min ... .max) }
        var span = page.mutableSpan
        PageSealedFiles.seal(page: 7, &span)
        let (isIntact, isIntactElsewhere) = (
            PageSealedFiles.isIntact(page: 7, page.span), PageSealedFiles.isIntact(page: 8, page.span)
        )
        #expect(isIntact && !isIntactElsewhere)
        var missed = 0
        for bit in 0..<page.count * 8 {
            page[bit / 8] ^= 1 << (bit % 8)
            if PageSealedFiles.isIntact(page: 7, page.span) { missed += 1 }
            page[bit / 8] ^= 1 << (bit % 8)
        }
        #expect(missed == 0)
    }

    @Test func `a page of zeros is invalid, whatever its number`() {
        let page = [UInt8](repeating: 0, count: 4096)
        let sound = (1...10_000).filter { PageSealedFiles.isIntact(page: $0, page.span) }
        #expect(sound.isEmpty)
    }
}
