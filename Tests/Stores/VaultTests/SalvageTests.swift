import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// A vault on a disk that damaged pages of its file: it isn't opened any more, but what can be read is exported.
@Suite struct SalvageTests {
    private static let pageByteCount = 4096
    private static let itemCount = 300

    private struct Outcome {
        var found: Int
        var missing: Int
    }

    /// Exports what is left when some pages hold noise; `nil` when not even the records can be read.
    private func salvage(_ folder: VaultFolder, damaging pages: [Int]) async throws -> Outcome? {
        let sound = try folder.contents()
        var bytes = sound
        for page in pages {
            for index in 0..<Self.pageByteCount { bytes[page * Self.pageByteCount + index] = .random(in: 0...255) }
        }
        try folder.replace(with: bytes)
        defer { try? folder.replace(with: sound) }
        let path = folder.path + "/rest"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let done: VaultExport
        do throws(StoreError) {
            let store = try await VaultStore.open(
                at: folder.vault, unlockedBy: .keyFile(folder.keyFile), itemCheck: .never)
            done = try await store.export(
                to: path, unlockedBy: .keyFile(folder.keyFile), leavingOutDamaged: true)
        } catch {
            #expect(error.code == .corrupted)
            return nil
        }
        #expect(try folder.contents() == bytes)
        let rest = try await VaultStore.open(at: path, unlockedBy: .keyFile(folder.keyFile))
        let report = try await rest.verify()
        #expect(report.isSound && report.itemCount == done.itemCount)
        for item in try await rest.list().all() {
            #expect(try await rest.text(item.key) == "secret \(item.key.account)")
        }
        return Outcome(found: done.itemCount, missing: done.missingCount)
    }

    private func filled(_ count: Int = itemCount) async throws -> VaultFolder {
        let folder = try VaultFolder()
        let store = try await folder.store()
        for index in 0..<count { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        return folder
    }

    /// A forged place ended the process.
    @Test func `an item before all places stops no export`() async throws {
        let folder = try await filled(80)
        try await Program("/usr/bin/python3").run([InUseTests.script, folder.vault, "negative"]).successful("negative")
        let pageCount = try folder.contents().count / Self.pageByteCount
        var found: [Int] = []
        for page in 0..<pageCount {
            if let outcome = try await salvage(folder, damaging: [page]) { found.append(outcome.found) }
        }
        #expect(found.contains { (1..<80).contains($0) })
        #expect(found.max() == 80)
    }

    @Test func `a damaged page costs only its own items`() async throws {
        let folder = try await filled()
        let pageCount = try folder.contents().count / Self.pageByteCount
        var unreadable = 0
        for page in 0..<pageCount {
            guard let outcome = try await salvage(folder, damaging: [page]) else {
                unreadable += 1
                continue
            }
            #expect(outcome.found + outcome.missing == Self.itemCount)
            // 20 rows of 200 bytes; the page that leads to all others hides them all.
            #expect(outcome.missing <= 20 || outcome.found == 0)
        }
        // The header with the schema, the records, and the tree's root.
        #expect(unreadable <= 3)
        #expect(pageCount > 20)
    }

    @Test func `salvage leaves out damaged pages anywhere, at both ends too`() async throws {
        let folder = try await filled()
        let pageCount = try folder.contents().count / Self.pageByteCount
        let outcome = try #require(try await salvage(folder, damaging: [4, pageCount / 2, pageCount - 1]))
        #expect(outcome.found + outcome.missing == Self.itemCount)
        #expect(outcome.missing > 0 && outcome.found > Self.itemCount / 2)
    }

    @Test func `salvage of a sound vault is complete`() async throws {
        let outcome = try #require(try await salvage(try await filled(), damaging: []))
        #expect(outcome.found == Self.itemCount && outcome.missing == 0)
    }
}
