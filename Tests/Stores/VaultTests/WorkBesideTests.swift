import Dispatch
import Foundation
import LatchkeyCredentials
import Synchronization
import Testing
import TestServices

@testable import LatchkeyVault

/// Work on all of a vault that others write to meanwhile.
@Suite struct WorkBesideTests {
    /// Too large to be read while writers wait: 21 MB.
    private func large(_ folder: VaultFolder) async throws -> VaultStore {
        try await folder.fill(0..<20, secretByteCount: 1 << 20)
        return try await folder.store()
    }

    /// Saves on the calling thread, as another process would.
    private func save(_ text: String, _ account: String, _ store: VaultStore) throws(StoreError) {
        try store.commit(Cancellation(.after(.seconds(60)))) {
            (transaction, change) throws(StoreError) in
            let name = Row.Name.key(key(account, service: "beside"))
            let old = try VaultStore.row(name, in: transaction, change.keys)
            try store.write(
                secret(text), name, label: "", contentType: "text/plain", replacing: old, in: transaction, &change)
        }
    }

    @Test func `a writer saves while a large vault is walked, and the walk shows the moment before`() async throws {
        let folder = try VaultFolder()
        let store = try await large(folder)
        let other = try await folder.store()
        let names = folder.names
        var walked = 0
        try VaultCopy(vault: store, cancellation: Cancellation(.after(.seconds(300)))).withWalk {
            (walk) throws(StoreError) in
            // The copy has lost its name.
            #expect(folder.names == names)
            try walk.forEachBatch(Cancellation(.after(.seconds(300)))) { (batch) throws(StoreError) in
                try save("saved", "\(walked)", other)
                for item in batch {
                    _ = try VaultStore.secret(of: item, in: walk.view, walk.state.keys)
                    walked += 1
                }
            }
        }
        #expect(walked == 20)
        #expect(try await store.text(key("0", service: "beside")) == "saved")
        #expect(folder.names == names)
    }

    @Test func `a small vault is walked in place, and writers wait`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("one"), for: key("ada"))
        let other = try await folder.store()
        let refused = await refusal { () async throws(StoreError) in
            try VaultCopy(vault: store, cancellation: Cancellation(.after(.seconds(60)))).withWalk {
                (walk) throws(StoreError) in
                try other.commit(Cancellation(.after(.milliseconds(50)))) {
                    (transaction, change) throws(StoreError) in
                    try transaction.put(record: "note", [1])
                    change.manifest.itemCount += 1
                }
            }
        }
        #expect(refused?.code == .timedOut || refused?.code == .busy)
        #expect(try await store.verify().problems == [])
    }

    @Test func `a vault is exported and verified whole while others save`() async throws {
        let folder = try VaultFolder()
        let store = try await large(folder)
        // Seven credentials of its own, saved, replaced and deleted by turns.
        let writer = try BuiltProducts.program("vault-writer").start(
            ["churn", folder.vault, folder.keyFile, "w", "1000000", runsLong ? "0" : "2"], environment: [:],
            folder: folder.path)
        defer { writer.kill() }
        try await writer.wait(for: "its first step") { writer.outputSoFar.contains("did 0") }
        for round in 0..<2 {
            let path = folder.path + "/export \(round)"
            let before = writer.outputSoFar.utf8.count
            let count = try await store.export(to: path, unlockedBy: .keyFile(folder.keyFile)).itemCount
            let report = try await store.verify()
            #expect(report.problems == [])
            #expect(writer.isRunning && writer.outputSoFar.utf8.count > before)
            for found in [count, report.itemCount] { #expect((20...27).contains(found)) }
            let export = try await VaultStore.open(at: path, unlockedBy: .keyFile(folder.keyFile))
            #expect(try await export.verify().problems == [])
            #expect(try await export.list().all().count == count)
        }
    }

    @Test func `if a copy can't be made, the walk works without one`() async throws {
        let folder = try VaultFolder()
        _ = try await large(folder)
        // No name is left for a copy beside it.
        let path = folder.path + "/" + String(repeating: "n", count: 240)
        try FileManager.default.moveItem(atPath: folder.vault, toPath: path)
        let store = try await VaultStore.open(at: path, unlockedBy: .keyFile(folder.keyFile))
        #expect(try store.file.copy(Cancellation(.standard), from: 0) == nil)
        #expect(try await store.verify().problems == [])
        let export = try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        #expect(export.itemCount == 20)
        let other = try VaultFolder()
        let target = try await other.store()
        #expect(try await target.importAll(from: store, onConflict: .refuse).addedCount == 20)
    }

    @Test func `a copy equals the file, byte for byte, and has no name in the folder`() async throws {
        let folder = try VaultFolder()
        let store = try await large(folder)
        let copy = try #require(try store.file.copy(Cancellation(.standard), from: 0))
        #expect(copy.path.hasPrefix(folder.vault + ".new-"))
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        let sizes = try [store.file, copy].map { (table) throws(StoreError) in
            try table.read { (view) throws(StoreError) in
                _ = try view.record(Manifest.recordName)
                var bytes: [UInt8] = []
                try view.connection.copyFile(Cancellation(.standard)) { bytes += $0 }
                return bytes
            }
        }
        var damaged = try folder.contents()
        #expect(sizes[0] == sizes[1] && sizes[0] == damaged)
        // Damage is copied, and found in the copy.
        damaged[damaged.count / 2] ^= 1
        try folder.replace(with: damaged)
        let page = damaged.count / 2 / 4096 + 1
        #expect(try await store.verify().problems.contains(.damagedPage(page)))
        #expect(folder.names.allSatisfy { !$0.contains(".new-") })
    }

    // MARK: - Two at a time

    /// Waits until both have come.
    private final class Meeting: Sendable {
        private let arrivals = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]

        /// Returns whether the other came.
        func wait(as number: Int) -> Bool {
            arrivals[1 - number].signal()
            return arrivals[number].wait(timeout: .now() + .seconds(300)) == .success
        }
    }

    @Test func `two vaults imported into each other at the same time don't wait for each other`() async throws {
        let folders = [try VaultFolder(), try VaultFolder()]
        for (number, folder) in folders.enumerated() {
            let store = try await folder.store()
            let text = String(repeating: "\(number)", count: 1 << 20)
            for index in 0..<20 {
                // Three transactions on either side.
                try await store.save(secret(text), for: key("\(index)", service: "vault \(number)"))
            }
        }
        let meeting = Meeting()
        try await withThrowingTaskGroup(of: VaultImport.self) { group in
            for number in 0..<2 {
                let (target, source) = (try await folders[number].store(), try await folders[1 - number].store())
                group.addTask {
                    let met = FirstTime()
                    return try await target.importAll(
                        from: source, onConflict: .keep, deadline: .after(.seconds(600))
                    ) { _ in
                        // Here its walk over the other has begun.
                        if met.isFirst() && !meeting.wait(as: number) { Issue.record("the other never came") }
                    }
                }
            }
            for try await done in group { #expect(done.addedCount == 20) }
        }
        for folder in folders {
            let store = try await folder.store()
            #expect(try await store.list().all().count == 40)
            #expect(try await store.verify().problems == [])
        }
    }

    private final class FirstTime: Sendable {
        private let isOver = Mutex(false)

        func isFirst() -> Bool {
            isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
        }
    }
}
