import Foundation
import LatchkeyCredentials
import LatchkeySystem
import Synchronization
import Testing
import TestServices

@testable import LatchkeyVault

/// One vault's memory among several processes.
@Suite struct MemoryProcessTests {
    private func start(_ mode: String, _ folder: VaultFolder, _ name: String, _ count: Int) throws -> RunningProgram {
        try BuiltProducts.program("vault-writer").start(
            [mode, folder.vault, folder.keyFile, name, "\(count)"],
            environment: ["VAULT_MEMORY": folder.path + "/vaults"], folder: folder.path)
    }

    private func memory(_ folder: VaultFolder) -> RollbackMemory { RollbackMemory(directory: folder.path + "/vaults") }

    /// The generation that is remembered; it must be readable at any moment.
    private func remembered(_ folder: VaultFolder, _ store: VaultStore) throws -> UInt64 {
        let keys = store.keys
        for _ in 0..<100 {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/vaults")
            let bytes = try folder.contents(folder.path + "/vaults/" + (try #require(names.first)))
            // A look without the lock may fall into a write.
            if let mark = GenerationMark.open(bytes, key: keys.rollback, vault: keys.vault) { return mark.generation }
        }
        throw StoreError.changedMemory
    }

    @Test func `many processes share the rollback record and none lowers it, and every opening succeeds`() async throws
    {
        let folder = try VaultFolder()
        try await folder.store()
        let store = try await VaultStore.open(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory(folder))
        let (processes, saves) = runsLong ? (8, 500) : (4, 30)
        var others: [RunningProgram] = []
        for number in 0..<processes { others.append(try start("save", folder, "\(number)", saves)) }
        // These read the vault while it grows: a save between two looks must not seem a rollback.
        for _ in 0..<2 { others.append(try start("open", folder, "-", saves * 4)) }
        var last: UInt64 = 1
        while others.contains(where: \.isRunning) {
            let now = try remembered(folder, store)
            #expect(now >= last)
            last = now
            try await Task.sleep(for: .milliseconds(1))
        }
        for other in others {
            let run = try await other.finish(within: .seconds(300))
            #expect(run.status == 0, "\(run.outputText.suffix(300)) \(run.errorText)")
        }
        // Whoever finds the record in use for long leaves it, and the next opening raises it.
        _ = try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory(folder))
        #expect(try remembered(folder, store) == UInt64(processes * saves + 1))
        // A writer with no other beside it raises the record itself.
        let alone = try await start("save", folder, "alone", 1).finish()
        #expect(alone.status == 0, "\(alone.errorText)")
        #expect(try remembered(folder, store) == UInt64(processes * saves + 2))
        // They share the record, and so are one origin.
        #expect(try store.generation() == UInt64(processes * saves + 2))
        #expect(store.known.withLock { $0.manifest.lastSaves.count } == 1)
    }

    @Test func `processes that die at any moment leave a rollback record that opens and is never ahead`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        for round in 0..<(runsLong ? 500 : 25) {
            // Every other round begins with making the memory's file.
            if round % 2 == 0 { try? FileManager.default.removeItem(atPath: folder.path + "/vaults") }
            let writers = [
                try start("save", folder, "s\(round)", 100_000), try start("churn", folder, "c\(round)", 100_000),
            ]
            for writer in writers {
                while writer.isRunning && !writer.outputSoFar.contains("open") {
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...30_000)))
            for writer in writers { writer.kill() }
            for writer in writers {
                let run = try await writer.finish()
                #expect(run.status == 137, "\(run.outputText.suffix(300))")
            }
            let store = try await VaultStore.open(
                at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory(folder))
            #expect(store.rollback == .current)
        }
    }

    /// Waiting for the lock on what is remembered held up the thread of whatever else the process did.
    @Test func `another process's lock on the rollback record delays no other task`()
        async throws
    {
        let folder = try VaultFolder()
        try await folder.store()
        _ = try await VaultStore.open(
            at: folder.vault, unlockedBy: .keyFile(folder.keyFile), memory: memory(folder))
        let store = try await folder.store()
        try await store.save(secret("1"), for: key("ada"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/vaults")
        let name = try #require(names.first)
        let record = try #require(FileHandle(forUpdatingAtPath: folder.path + "/vaults/" + name))
        defer { try? record.close() }
        #expect(FileLock.take(record.fileDescriptor) == 0)
        // More than there are threads for tasks.
        let count = ProcessInfo.processInfo.activeProcessorCount * 2
        let program = try BuiltProducts.program("vault-writer").start(
            ["beside", folder.vault, folder.keyFile, "ada", "\(count)"],
            environment: ["VAULT_MEMORY": folder.path + "/vaults"], folder: folder.path)
        try await program.wait(for: "all to be open") {
            program.outputSoFar.split(separator: "\n").count { $0 == "opened" } == count
        }
        try await store.save(secret("2"), for: key("ada"))
        try folder.replace(folder.vault + "-go", with: [])
        let run = try await program.finish()
        #expect(run.status == 0, "\(run.outputText.suffix(300))")
        let lines = run.outputText.split(separator: "\n").map(String.init)
        for (first, last) in [("opening", "opened"), ("reading", "read")] {
            // The wait is a tenth of a second, and it says so each millisecond that it gets a thread: never, if who waits
            // holds them all; seldom, on a busy machine.
            let end = try #require(lines.firstIndex(of: last))
            let start = try #require(lines[..<end].firstIndex(of: first))
            #expect(lines[start..<end].count { $0 == "beside" } >= 3, "\(first)")
        }
    }
}
