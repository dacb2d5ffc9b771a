import Foundation
import LatchkeyCredentials
import TestServices
import Testing

@testable import LatchkeyVault

/// What someone learns who has the file and not the key.
@Suite struct PrivacyTests {
    /// All files of the folder but the key file, as one.
    private func everything(_ folder: VaultFolder) throws -> Data {
        var all = Data()
        for name in folder.names where name != "key" { all += Data(try folder.contents(folder.path + "/" + name)) }
        return all
    }

    @Test func `service, account, label and secret are nowhere in the file`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(
            secret("canary-secret-8a1f"), for: key("canary-account-77b2", service: "canary-service-01cd"),
            options: SaveOptions(label: "canary-label-3e5a", contentType: .text))
        try await store.addSlot(passphrase("canary-passphrase-c0de"), name: KeySlotName("canary-slot")!, cost: .cheap)
        let all = try everything(folder)
        for canary in ["secret-8a1f", "account-77b2", "service-01cd", "label-3e5a", "passphrase-c0de", "canary"] {
            #expect(all.range(of: Data(canary.utf8)) == nil, "\(canary)")
        }
        // The times too: the seconds of now in either byte order.
        let created = try #require(try await store.list().all().first).created.seconds
        for shift in [[0, 8, 16, 24], [24, 16, 8, 0]] {
            let bytes = shift.map { UInt8(truncatingIfNeeded: created >> Int64($0)) }
            #expect(all.range(of: Data(bytes)) == nil)
        }
    }

    @Test func `two vaults with the same content and key file share no row`() async throws {
        let (one, two) = (try VaultFolder(), try VaultFolder())
        let first = try await one.store()
        try two.replace(two.keyFile, with: try one.contents(one.keyFile))
        let second = try await two.store()
        for store in [first, second] { try await store.save(secret("same"), for: key("ada")) }
        func lookups(_ path: String) throws -> [[UInt8]] {
            try SQLiteRowTable(path: path).read { (view) throws(StoreError) in
                try view.items(after: nil, limit: 10).flatMap { [$0.lookup, $0.metadata] }
            }
        }
        #expect(Set(try lookups(one.vault)).isDisjoint(with: try lookups(two.vault)))
    }

    @Test func `a replaced or deleted secret leaves no ciphertext in the file or its journal`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let table = try SQLiteRowTable(path: folder.vault)
        var gone: Set<UInt64> = []
        var generator = SystemRandomNumberGenerator()
        for round in 0..<(runsLong ? 4000 : 400) {
            let name = key("account \(Int.random(in: 0..<40, using: &generator))")
            let keys = store.keys
            // What this round overwrites or deletes: a word of every 16 bytes of its nonces and ciphertexts.
            try table.read { (view) throws(StoreError) in
                _ = try view.withItem(keys.lookup(of: name)) { (metadata, secret) throws(StoreError) in
                    for sealed in [[UInt8](copying: metadata), [UInt8](copying: secret)] {
                        for start in stride(from: 0, to: sealed.count - 8, by: 16) {
                            gone.insert((0..<8).reduce(0) { $0 << 8 | UInt64(sealed[start + $1]) })
                        }
                    }
                }
            }
            if round % 3 == 2 {
                try await store.delete(name)
            } else {
                let size = [10, 300, 1000, 5000, 20000][Int.random(in: 0..<5, using: &generator)]
                try await store.save(secret(String(repeating: "x", count: size)), for: name)
            }
        }
        #expect(gone.count > 1000)
        var window: UInt64 = 0
        var left = 0
        for byte in try everything(folder) {
            window = window << 8 | UInt64(byte)
            if gone.contains(window) { left += 1 }
        }
        #expect(left == 0, "words of \(gone.count) that are gone")
    }

    @Test func `the file doesn't show how many secrets a service has`() async throws {
        // One service with twelve accounts, and twelve services with one: the same sizes in the same number, and no two
        // rows have six bytes in common at any place.
        var shapes: Set<[Int]> = []
        for isOneService in [true, false] {
            let folder = try VaultFolder()
            let store = try await folder.store()
            for index in 0..<12 {
                let (service, account) = isOneService ? ("one.example", "\(index)") : ("\(index).example", "one")
                try await store.save(secret("s"), for: key(account, service: service))
            }
            let rows = try SQLiteRowTable(path: folder.vault).read { (view) throws(StoreError) in
                try view.items(after: nil, limit: 100).map { $0.lookup + $0.metadata }
            }
            // Not the file's own size: how its pages are split follows from the rows' random places, and from nothing
            // else.
            shapes.insert(rows.map(\.count))
            for start in 0..<rows[0].count - 6 {
                #expect(Set(rows.map { $0[start..<start + 6] }).count == rows.count)
            }
        }
        #expect(shapes.count == 1)
    }

    // MARK: - Sizes

    @Test func `each size fits into one of a few buckets`() {
        var sizes: Set<Int> = []
        var wrong: [Int] = []
        for count in 0...70_000 {
            let bucket = SealedSize.bucket(count)
            let fits = bucket >= count && (count <= 256 || bucket < count * 2)
            if !fits || SealedSize.bucket(bucket) != bucket { wrong.append(count) }
            sizes.insert(bucket)
        }
        #expect(wrong == [])
        #expect(sizes.count < 60)
        #expect(SealedSize.bucket(SealedSize.maximumSecretByteCount) == SealedSize.maximumSecretByteCount)
        #expect([0, 1, 256].map(SealedSize.bucket) == [256, 256, 256])
        #expect([257, 512, 513, 16384].map(SealedSize.bucket) == [512, 512, 1024, 16384])
        #expect(SealedSize.bucket(16385) == 16384 + 1024)
    }

    @Test func `secrets of one bucket take the same room`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let table = try SQLiteRowTable(path: folder.vault)
        var counts: Set<Int> = []
        for text in ["", "x", String(repeating: "y", count: 256)] {
            try await store.save(secret(text), for: key("ada"))
            let keys = store.keys
            try table.read { (view) throws(StoreError) in
                _ = try view.withItem(keys.lookup(of: key("ada"))) { (metadata, secret) throws(StoreError) in
                    counts.insert(metadata.count * 100_000 + secret.count)
                }
            }
        }
        #expect(counts == [(256 + 40) * 100_000 + 256 + 40])
    }
}
