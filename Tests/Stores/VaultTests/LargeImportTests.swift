import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyVault

/// Imports that are larger than one transaction: they are cut off between any two, and taken up again.
@Suite struct LargeImportTests {
    /// 20 MB, in three transactions.
    private static let count = 560

    /// A large export, "vault-export".
    private func sample() async throws -> VaultFolder {
        let folder = try VaultFolder()
        try await folder.fill(0..<Self.count, secretByteCount: 32_000)
        _ = try await folder.store().export(to: folder.vault + "-export", unlockedBy: .keyFile(folder.keyFile))
        return folder
    }

    /// The vault that it is imported into, "vault-import", with 300 items of its own.
    private func target(_ folder: VaultFolder) async throws -> VaultStore {
        try? FileManager.default.removeItem(atPath: folder.vault + "-import")
        let target = try await VaultStore.create(at: folder.vault + "-import", unlockedBy: .keyFile(folder.keyFile))
        try await target.fill((0..<300).map { key("\($0)", service: "target") }, with: secret("own"))
        return target
    }

    private func size(_ folder: VaultFolder) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: folder.vault + "-import")[.size] as? Int ?? 0
    }

    /// Kills a program up to 0.2 s after its first page is in the file. A thread of its own looks: a task would wait
    /// for its turn among the tests beside this one, and come too late.
    private func kill(_ run: RunningProgram, soonAfter folder: VaultFolder, hasGrownFrom before: Int) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                while run.isRunning, (try? size(folder)) == before { usleep(1000) }
                usleep(UInt32.random(in: 0...200_000))
                run.kill()
                continuation.resume()
            }
        }
    }

    private func arguments(_ folder: VaultFolder) -> [String] {
        ["all", folder.vault, folder.keyFile, "import", "0"]
    }

    /// What is there besides the vault's own, each compared with what was imported.
    private func imported(_ target: VaultStore, from source: VaultStore) async throws -> Int {
        let expected = try await Set(source.list().all())
        let found = try await target.list().all().filter { $0.key.service != "target" }
        #expect(found.allSatisfy { expected.contains($0) })
        #expect(try await target.text(key("77", service: "target")) == "own")
        if let some = found.randomElement() {
            let text = try await target.text(some.key)
            #expect(try await source.text(some.key) == text && text != nil)
        }
        return found.count
    }

    @Test func `an import that is killed at any moment leaves whole credentials, and the next run imports the rest`()
        async throws
    {
        let folder = try await sample()
        let source = try await VaultStore.open(at: folder.vault + "-export", unlockedBy: .keyFile(folder.keyFile))
        var target = try await target(folder)
        let before = try size(folder)
        var cutInBetween = 0
        var round = 0
        // Until enough were killed with a part of it in the file.
        while cutInBetween < (runsLong ? 100 : 3), round < 1000 {
            round += 1
            let run = try BuiltProducts.program("vault-writer").start(
                arguments(folder), environment: [:], folder: folder.path)
            await kill(run, soonAfter: folder, hasGrownFrom: before)
            let end = try await run.finish()
            let report = try await target.verify()
            #expect(report.problems == [])
            let count = try await imported(target, from: source)
            #expect(report.itemCount == 300 + count)
            #expect(count == Self.count || end.status == 137)
            if (1..<Self.count).contains(count) {
                cutInBetween += 1
                let rest = try await target.importAll(from: source, onConflict: .refuse)
                #expect(rest == VaultImport(addedCount: Self.count - count, replacedCount: 0, keptCount: count))
                #expect(try await target.verify().problems == [])
            }
            target = try await self.target(folder)
        }
        #expect(cutInBetween >= 3)
    }

    @Test func `a disk that gets full during an import leaves whole credentials, and is reported`() async throws {
        let folder = try await sample()
        let source = try await VaultStore.open(at: folder.vault + "-export", unlockedBy: .keyFile(folder.keyFile))
        let target = try await target(folder)
        let writer = try BuiltProducts.program("vault-writer").path
        // As in DiskTests: more than the first transaction, less than all.
        let run = try await Program("/bin/bash").run(
            ["-c", "trap '' XFSZ; ulimit -f 15000; exec \"$@\"", "bash", writer] + arguments(folder))
        #expect(run.status == 70 && run.outputText.contains("store.cannot-write"), "\(run.outputText)")
        #expect(try await target.verify().problems == [])
        let count = try await imported(target, from: source)
        #expect((1..<Self.count).contains(count))
        #expect(run.outputText.contains("\(count) credentials were imported before that, and stay"))
    }

    @Test func `an import finds a conflict in its last part before it writes the first`() async throws {
        let folder = try await sample()
        let source = try await VaultStore.open(at: folder.vault + "-export", unlockedBy: .keyFile(folder.keyFile))
        let target = try await target(folder)
        let last = try #require(try await source.list().all().last)
        try await target.save(secret("another"), for: last.key)
        let before = try size(folder)
        let error = await refusal { () async throws(StoreError) in
            try await target.importAll(from: source, onConflict: .refuse)
        }
        #expect(error?.code == .conflict)
        #expect(try size(folder) == before)
        #expect(try await target.list().all().count == 301)
    }

    @Test func `a cancelled import leaves the reported part, and other saves go in between`() async throws {
        let folder = try await sample()
        let source = try await VaultStore.open(at: folder.vault + "-export", unlockedBy: .keyFile(folder.keyFile))
        let target = try await target(folder)
        let other = try await VaultStore.open(at: folder.vault + "-import", unlockedBy: .keyFile(folder.keyFile))
        let (told, parts) = AsyncStream.makeStream(of: Double.self)
        let task = Task {
            defer { parts.finish() }
            return try await target.importAll(from: source, onConflict: .refuse) { parts.yield($0) }
        }
        // One transaction of it is in.
        var heard: [Double] = []
        for await fraction in told {
            heard.append(fraction)
            if fraction > 0.25 { break }
        }
        // Both as from another process and through the store that imports.
        try await other.save(secret("in between"), for: key("a", service: "target"))
        try await target.save(secret("in between"), for: key("b", service: "target"))
        task.cancel()
        let end = await task.result
        let count = try await imported(target, from: source)
        switch end {
        case .success(let result): #expect(result.addedCount == Self.count && count == Self.count)
        case .failure(let error):
            let refusal = try #require(error as? StoreError)
            #expect(refusal.code == .cancelled)
            #expect("\(refusal)".contains("\(count) credentials were imported"), "\(refusal)")
        }
        #expect(heard == heard.sorted())
        #expect(try await target.verify().problems == [])
        #expect(try await target.importAll(from: source, onConflict: .keep).keptCount == count)
        #expect(try await target.list().all().count == 302 + Self.count)
    }
}
