import Credentials
import Foundation
import Secrets
import TestServices
import Testing

@testable import Vault

/// Imports that are larger than what a transaction keeps in memory: pages reach the file before the commit.
@Suite struct LargeImportTests {
    /// 50 MiB.
    private static let count = 1_400

    /// A large export, "vault-export".
    private func sample() async throws -> VaultFolder {
        let folder = try VaultFolder(inMemory: true)
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

    /// Kills a program up to 0.4 s after its first page is in the file. A thread of its own looks: a task would wait for
    /// its turn among the tests beside this one, and come too late.
    private func kill(_ run: RunningProgram, soonAfter folder: VaultFolder, hasGrownFrom before: Int) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                while run.isRunning, (try? size(folder)) == before { usleep(1000) }
                usleep(UInt32.random(in: 0...400_000))
                run.kill()
                continuation.resume()
            }
        }
    }

    private func arguments(_ folder: VaultFolder) -> [String] {
        ["all", folder.vault, folder.keyFile, "import", "0"]
    }

    @Test func `a kill at any moment of it leaves all or nothing`() async throws {
        let folder = try await sample()
        var target = try await target(folder)
        let before = try size(folder)
        var cutWhileWriting = 0
        var round = 0
        // Until enough were killed with pages in the file, and the rest before or after that.
        while cutWhileWriting < (runsLong ? 100 : 3), round < 1000 {
            round += 1
            let run = try BuiltProducts.program("vault-writer").start(
                arguments(folder), environment: [:], folder: folder.path)
            await kill(run, soonAfter: folder, hasGrownFrom: before)
            let end = try await run.finish()
            let left = try size(folder)
            let report = try await target.verify()
            #expect(report.problems == [])
            #expect(try await target.text(key("77", service: "target")) == "own")
            if report.itemCount == 300 {
                if left > before { cutWhileWriting += 1 }
                #expect(end.status == 137)
            } else {
                #expect(report.itemCount == 300 + Self.count)
                target = try await self.target(folder)
            }
        }
        #expect(cutWhileWriting >= 3)
    }

    @Test func `a disk that gets full in the middle of it leaves the old content`() async throws {
        let folder = try await sample()
        let target = try await target(folder)
        let before = try await target.list().all()
        let writer = try BuiltProducts.program("vault-writer").path
        // As in DiskTests: more than is kept in memory, less than there is.
        let run = try await Program("/bin/bash").run(
            ["-c", "trap '' XFSZ; ulimit -f 45000; exec \"$@\"", "bash", writer] + arguments(folder))
        #expect(run.status == 70 && run.outputText.contains("store.cannot-write"), "\(run.outputText)")
        #expect(try await target.verify().problems == [])
        #expect(try await Set(target.list().all()) == Set(before))
    }
}
