import Foundation
import LatchkeyCredentials
import Testing

@testable import LatchkeyVault

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
