import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Several processes, several stores, and processes that die.
@Suite struct ProcessTests {
    private func start(
        _ mode: String, _ folder: VaultFolder, _ name: String, _ count: Int, rest milliseconds: Int = 0
    ) throws -> RunningProgram {
        try BuiltProducts.program("vault-writer").start(
            [mode, folder.vault, folder.keyFile, name, "\(count)", "\(milliseconds)"], environment: [:],
            folder: folder.path)
    }

    private func key(_ account: String) -> CredentialKey { try! CredentialKey(service: "writer", account: account) }

    @Test func `processes that save at once lose nothing`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let (processes, saves) = (8, 500)
        var writers: [RunningProgram] = []
        for number in 0..<processes { writers.append(try start("save", folder, "\(number)", saves)) }
        for writer in writers {
            let run = try await writer.finish(within: .seconds(300))
            #expect(run.status == 0, "\(run.outputText.suffix(200)) \(run.errorText)")
        }
        let report = try await store.verify()
        #expect(report.problems == [])
        #expect(report.itemCount == processes * saves)
        #expect(try await store.text(key("1/7")) == "1 7")
    }

    @Test func `a read is never mixed while other processes replace its item`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("0"), for: key("whole"))
        let writers = try (0..<2).map { _ in try start("whole", folder, "whole", 100_000, rest: runsLong ? 0 : 1) }
        var seen: Set<Int> = []
        // Through one store and through many; until enough different ones were seen.
        while seen.count < (runsLong ? 2000 : 40) && writers.allSatisfy(\.isRunning) {
            for reader in [store, try await folder.store()] {
                let text = try #require(try await reader.text(key("whole")))
                #expect(Set(text.utf8).count == 1)
                seen.insert(text.utf8.count)
            }
        }
        for writer in writers {
            writer.kill()
            let run = try await writer.finish()
            #expect(run.status == 137, "\(run.outputText.suffix(200)) \(run.errorText)")
        }
        #expect(seen.count >= 40)
    }

    /// One in some hundred openings was refused as with a wrong key: its slot was replaced by another with the same key, and
    /// the vault rekeyed, after the slots were read and before the manifest was.
    @Test func `a vault opens while its slot is replaced and it is rekeyed, again and again`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let writers = try [start("slots", folder, "other", 100_000), start("rekey", folder, "-", 100_000)]
        for writer in writers {
            try await writer.wait(for: "its first step") {
                writer.outputSoFar.contains("slot 1") || writer.outputSoFar.contains("rekeyed 1")
            }
        }
        for _ in 0..<(runsLong ? 5000 : 200) {
            _ = try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile("\(folder.keyFile).other"))
        }
        for writer in writers {
            #expect(writer.isRunning, "\(writer.outputSoFar.suffix(300))")
            writer.kill()
            _ = try await writer.finish()
        }
    }

    @Test func `processes that count by compare-and-set lose no step`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let (processes, steps) = (8, runsLong ? 500 : 25)
        var writers: [RunningProgram] = []
        for _ in 0..<processes { writers.append(try start("count", folder, "number", steps)) }
        for writer in writers {
            let run = try await writer.finish(within: .seconds(300))
            #expect(run.status == 0, "\(run.outputText.suffix(200)) \(run.errorText)")
        }
        #expect(try await store.text(key("number")) == "\(processes * steps)")
    }

    @Test func `other processes' changes are reported, and the stream ends with the store`() async throws {
        let folder = try VaultFolder()
        var store: VaultStore? = try await folder.store()
        let changes = try #require(try await store?.changes(deadline: .standard))
        let writer = try start("save", folder, "other", 1)
        var heard = changes.makeAsyncIterator()
        #expect(await heard.next() == CredentialChange(kind: .unknown, key: nil))
        _ = try await writer.finish()
        #expect(try await store?.text(key("other/0")) == "other 0")
        store = nil
        while await heard.next() != nil {}
    }

    // MARK: - Waiting

    /// Holds the vault as a writer would, until it is let go.
    private final class Holder: Sendable {
        private let go = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)

        init(_ folder: VaultFolder) throws {
            let begun = DispatchSemaphore(value: 0)
            let table = try SQLiteRowTable(path: folder.vault)
            Thread.detachNewThread { [go, ended] in
                try? table.write(Cancellation(.standard)) { (transaction) throws(StoreError) in
                    try transaction.put(record: "held", [1])
                    begun.signal()
                    go.wait()
                    throw StoreError.cancelled
                }
                ended.signal()
            }
            begun.wait()
        }

        func letGo() {
            go.signal()
            ended.wait()
        }
    }

    @Test func `a save waits for another writer until its deadline and changes nothing`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("old"), for: key("ada"))
        let holder = try Holder(folder)
        let error = await refusal { () async throws(StoreError) in
            try await store.save(
                secret("new"), for: key("ada"), options: SaveOptions(), deadline: .after(.milliseconds(50)))
        }
        #expect(error?.code == .timedOut)
        #expect(try await store.text(key("ada")) == "old")
        holder.letGo()
        #expect(try await store.text(key("ada")) == "old")
        try await store.save(secret("new"), for: key("ada"))
        #expect(try await store.text(key("ada")) == "new")
    }

    @Test func `a save that waits ends when its task is cancelled, and others behind it don't wait for it`()
        async throws
    {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let holder = try Holder(folder)
        let key = key("ada")
        let waiting = Task {
            await refusal { () async throws(StoreError) in
                try await store.save(
                    secret("new"), for: key, options: SaveOptions(), deadline: .after(.seconds(600)))
            }
        }
        // Behind the one that waits for ten minutes, this one keeps its own deadline.
        let behind = await refusal { () async throws(StoreError) in
            try await store.delete(key, condition: .none, deadline: .after(.milliseconds(50)))
        }
        #expect(behind?.code == .timedOut)
        waiting.cancel()
        #expect(await waiting.value?.code == .cancelled)
        holder.letGo()
        #expect(try await store.text(key) == nil)
    }

    @Test func `a save succeeds once the other writer has finished`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let holder = try Holder(folder)
        let key = key("ada")
        let waiting = Task { try await store.save(secret("new"), for: key) }
        holder.letGo()
        _ = try await waiting.value
        #expect(try await store.text(key) == "new")
    }

    @Test func `reads continue while a writer prepares its change`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("old"), for: key("ada"))
        let holder = try Holder(folder)
        #expect(try await store.text(key("ada")) == "old")
        let again = try await folder.store()
        #expect(try await again.text(key("ada")) == "old")
        holder.letGo()
    }
}
