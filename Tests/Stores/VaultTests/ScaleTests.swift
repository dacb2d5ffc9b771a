import Foundation
import LatchkeyCredentials
import TestServices
import Testing

@testable import LatchkeyVault

/// Large vaults: what work on one item costs, and what memory work on all of them takes, in a process of its own.
@Suite struct ScaleTests {
    private func run(_ mode: String, _ folder: VaultFolder, _ job: String) async throws -> [String: [Int]] {
        let run = try await BuiltProducts.program("vault-writer").run(
            [mode, folder.vault, folder.keyFile, job, "0"], environment: [:], folder: folder.path,
            timeout: .seconds(3600)
        ).successful("\(mode) \(job)")
        var answers: [String: [Int]] = [:]
        for line in run.outputText.split(separator: "\n") {
            let words = line.split(separator: " ")
            answers[String(words[0])] = words.dropFirst().compactMap { Int($0) }
        }
        return answers
    }

    @Test func `opening, and work on one item, reads a few pages, however many items exist`() async throws {
        let (few, many) = (100, runsLong ? 1_000_000 : 12_000)
        var answers: [[String: [Int]]] = []
        for count in [few, many] {
            let folder = try VaultFolder()
            try await folder.fill(0..<count)
            answers.append(try await run("touch", folder, "\(count / 2)"))
        }
        for step in ["opened", "read", "missed", "saved", "added", "deleted"] {
            let (small, large) = (try #require(answers[0][step]), try #require(answers[1][step]))
            #expect(small.count == 2 && large.count == 2)
            // All items are compared with the manifest in a small vault alone.
            if step == "opened" { #expect(small[0] > large[0] && small[0] < 100 * 4096) }
            // A b-tree has another level with each hundred times as many, and a save writes twice what it changes. How
            // much that is depends on which pages are full near the item's random place: ten pages more were seen. All
            // of the vault would be 1,000.
            #expect(large[0] < small[0] + 40 * 4096, "\(step) read \(large[0]) bytes instead of \(small[0])")
            #expect(large[1] < small[1] + 40 * 4096, "\(step) wrote \(large[1]) bytes instead of \(small[1])")
        }
    }

    /// Runs each job on a vault of one size after another, and compares the memory that they took.
    private func compare(
        _ jobs: [String], at sizes: [Int], secretByteCount: Int, atMost byteCountPerItem: Int
    ) async throws {
        let folder = try VaultFolder()
        var peaks: [String: Int] = [:]
        var size = 0
        for next in sizes {
            try await folder.fill(size..<next, secretByteCount: secretByteCount)
            for job in jobs {
                let answer = try await run("all", folder, job)
                #expect(answer["items"] == [job == "search" ? 0 : next], "\(job)")
                let peak = try #require(answer["peak"]?.first)
                if job == "rekey" {
                    // One transaction: what it changes stays in memory up to 40 MB of pages (`cache_spill`), then no
                    // longer.
                    #expect(peak < 80 * 1024, "rekey of \(next): \(peak) KiB")
                } else if let before = peaks[job] {
                    let grown = (peak - before) * 1024
                    #expect(grown < (next - size) * byteCountPerItem, "\(job) of \(next): \(grown) bytes more")
                }
                peaks[job] = peak
                if runsLong { print("\(next) items, \(job): \(peak) KiB at most") }
            }
            for name in folder.names where name.hasPrefix("vault-") {
                try FileManager.default.removeItem(atPath: folder.path + "/" + name)
            }
            size = next
        }
    }

    /// A sealed name alone is 296 bytes.
    @Test func `work on all items needs no memory for each`() async throws {
        let sizes = [6_000, 12_000] + (runsLong ? [100_000, 1_000_000] : [])
        try await compare(
            ["list", "search", "verify", "export", "rekey"], at: sizes, secretByteCount: 40, atMost: 200)
    }

    /// It keeps what it changes in memory up to a limit; beyond that, it must not.
    @Test func `an import needs no memory for each item`() async throws {
        try await compare(["export", "import"], at: [1_200, 1_600], secretByteCount: 32_000, atMost: 8_000)
        if runsLong {
            try await compare(["export", "import"], at: [100_000, 1_000_000], secretByteCount: 40, atMost: 40)
        }
    }
}

/// A large item beside small ones: what happens to it is no concern of theirs.
@Suite struct LargeItemTests {
    /// A vault with 60 small items, a large one, and 60 more; and the pages that hold nothing but the large one's
    /// bytes.
    private func sample() async throws -> (VaultFolder, [Int]) {
        let folder = try VaultFolder()
        let store = try await folder.store()
        for index in 0..<60 { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        try await store.save(secret(String(repeating: "x", count: 8 << 20)), for: key("large"))
        for index in 60..<120 { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        let bytes = try folder.contents()
        // Overflow pages begin with the next one's number, below 2^25; b-tree pages with a type, 2 to 13. No page is
        // free.
        let overflow = (1..<bytes.count / 4096).filter { bytes[$0 * 4096] < 2 }
        #expect(overflow.count > (8 << 20) / 4096)
        return (folder, overflow)
    }

    /// Before, rows stood in the b-tree of their own look-up values, so that SQLite read all of a large one to compare
    /// with its first bytes.
    @Test func `with all overflow pages of a large item damaged, all others are read, listed and changed`() async throws
    {
        let (folder, overflow) = try await sample()
        var bytes = try folder.contents()
        for page in overflow { bytes[page * 4096 + 2048] ^= 1 }
        try folder.replace(with: bytes)
        let store = try await folder.store()
        for index in 0..<120 {
            let text = try await store.text(key("\(index)"))
            #expect(text == "secret \(index)")
        }
        #expect(try await store.text(key("missing")) == nil)
        #expect(try await store.list().all().count == 121)
        for index in 0..<40 { try await store.save(secret("new"), for: key("\(index)")) }
        for index in 40..<80 { try await store.delete(key("\(index)")) }
        for index in 120..<160 { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        #expect(try await store.list().all().count == 121)
        let error = await refusal { () async throws(StoreError) in try await store.text(key("large")) }
        #expect(error?.code == .corrupted)
        let problems = try await store.verify().problems
        #expect(problems.contains(.damagedPage(overflow[0] + 1)))
    }
}
