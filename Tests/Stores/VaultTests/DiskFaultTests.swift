import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Disks that fail in the middle of a change, and power that does.
@Suite struct DiskFaultTests {
    private func key(_ account: String) -> CredentialKey { try! CredentialKey(service: "writer", account: account) }

    private func sample(_ folder: VaultFolder? = nil) async throws -> (VaultFolder, VaultStore) {
        let folder = try folder ?? VaultFolder()
        let store = try await folder.store()
        for index in 0..<3 { try await store.save(secret("old \(index)"), for: key("p/\(index)")) }
        return (folder, store)
    }

    @Test(arguments: [EIO, ENOSPC])
    func `a save that fails at any step gives a typed error and keeps the old content`(_ error: Int32) async throws {
        let (folder, store) = try await sample()
        let disk = try WatchedDisk(folder: folder)
        let before = try folder.contents()
        let count = try await disk.run("save", "p", 1).steps.count { $0.isOnDisk }
        #expect(count > 15)
        var failed = 0
        var notDurable = 0
        for number in 1...count {
            try await reset(folder, store, to: before)
            let run = try await disk.run("save", "p", 1, failing: number, error: error).run
            let text = try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile)).text(
                key("p/0"))
            failed += 1
            #expect(
                run.status == 70 && run.outputText.contains("store.cannot-write"), "step \(number): \(run.outputText)")
            let isThere = run.outputText.contains("the vault contains the change")
            if isThere { notDurable += 1 }
            #expect(text == (isThere ? "p 0" : "old 0"), "step \(number): \(run.outputText)")
            let again = try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile))
            #expect(try await again.verify().problems == [])
            #expect(try await again.text(key("p/2")) == "old 2")
        }
        #expect(failed == count && notDurable == 1)
    }

    @Test(arguments: [true, false])
    func `a save into a folder that can't be synced is refused, and the next one works`(hasJournal: Bool) async throws {
        let (folder, store) = try await sample()
        let disk = try WatchedDisk(folder: folder)
        let before = try folder.contents()
        func prepare() async throws {
            try await reset(folder, store, to: before)
            if !hasJournal { try FileManager.default.removeItem(atPath: folder.vault + "-journal") }
        }
        try await prepare()
        let steps = try await disk.run("save", "p", 1).steps.filter(\.isOnDisk)
        let sync = try #require(steps.firstIndex { $0.change == .synced && $0.file.isEmpty })
        // Before the first byte of the journal.
        #expect(!steps[..<sync].contains { if case .written = $0.change { true } else { false } })
        try await prepare()
        let run = try await disk.run("save", "p", 1, failing: sync + 1).run
        #expect(run.status == 70 && run.outputText.contains("store.cannot-write"), "\(run.outputText)")
        #expect(try folder.contents() == before)
        let again = try await disk.run("save", "p", 1).run
        #expect(again.status == 0)
        let text = try await folder.store().text(key("p/0"))
        #expect(text == "p 0")
    }

    @Test func `the folder is synced for each new journal, and once for one that stays`() async throws {
        let (folder, _) = try await sample()
        func folderSyncs() async throws -> Int {
            let (run, steps) = try await WatchedDisk(folder: folder).run("save", "p", 5)
            #expect(run.status == 0)
            return steps.count { $0.isOnDisk && $0.change == .synced && $0.file.isEmpty }
        }
        // Each process for itself: it can't know what another one has synced.
        #expect(try await folderSyncs() == 1)
        #expect(try await folderSyncs() == 1)
        let journal = folder.vault + "-journal"
        #expect(JournalName.makeLast(journal))
        try FileManager.default.removeItem(atPath: journal)
        // SQLite's own is the second.
        #expect(try await folderSyncs() == 2)
    }

    @Test func `a removed folder can't be synced, even if its journal was known`() async throws {
        let (folder, _) = try await sample()
        let journal = folder.vault + "-journal"
        #expect(JournalName.makeLast(journal))
        #expect(JournalName.makeLast(journal))
        try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + "-moved")
        #expect(!JournalName.makeLast(journal))
        try FileManager.default.moveItem(atPath: folder.path + "-moved", toPath: folder.path)
    }

    /// The vault as it was, whatever the last round left beside it.
    private func reset(_ folder: VaultFolder, _ store: VaultStore, to bytes: [UInt8]) async throws {
        try folder.replace(with: bytes)
        try folder.replace(folder.vault + "-journal", with: [])
    }

    @Test func `a rekeying that fails at any step keeps all credentials, and the next one works`() async throws {
        let (folder, store) = try await sample()
        let disk = try WatchedDisk(folder: folder)
        let before = try folder.contents()
        let count = try await disk.run("rekey", "-", 1).steps.count { $0.isOnDisk }
        #expect(count > 15)
        for number in stride(from: 1, through: count, by: runsLong ? 1 : 4) {
            try await reset(folder, store, to: before)
            let run = try await disk.run("rekey", "-", 1, failing: number).run
            #expect(run.status == 0 || run.outputText.contains("store.cannot-write"), "step \(number)")
            let again = try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.keyFile))
            #expect(try await again.verify().problems == [], "step \(number)")
            for index in 0..<3 { #expect(try await again.text(key("p/\(index)")) == "old \(index)") }
            _ = try await again.rekey()
            #expect(try await again.verify().itemCount == 3)
        }
    }

    @Test(arguments: ["save", "churn", "rekey", "items"])
    func `after a power failure at any moment the vault is sound and has all finished saves`(_ mode: String)
        async throws
    {
        let (folder, store) = try await sample()
        withExtendedLifetime(store) {}
        var generator = SeededGenerator(seed: runsLong ? .random(in: 0 ... .max) : 7)
        let (keyFile, vault) = (try folder.contents(folder.keyFile), try folder.contents())
        // With the journal of an earlier change, and without one.
        try FileManager.default.removeItem(atPath: folder.vault + "-journal")
        let (run, steps) = try await WatchedDisk(folder: folder).run(mode, "p", mode == "save" ? 6 : 8)
        #expect(run.status == 0 && steps.count > 100)
        var disk = PowerLoss(["vault": vault])
        var saved = 0
        let crashed = try VaultFolder()
        try crashed.replace(crashed.keyFile, with: keyFile)
        for (number, step) in steps.enumerated() {
            disk.add(step)
            if case .said(let text) = step.change {
                if text.hasPrefix("saved ") { saved += 1 }
                continue
            }
            for share in runsLong ? [0, 0.2, 0.5, 0.8, 1] : [0, 0.5] {
                let state = disk.state(&generator, keeping: share)
                for file in ["vault", "vault-journal"] {
                    try? FileManager.default.removeItem(atPath: crashed.path + "/" + file)
                    if let bytes = state[file] { try crashed.replace(crashed.path + "/" + file, with: bytes) }
                }
                let place: Comment = "step \(number): \(step.file), share \(share)"
                do {
                    let store = try await crashed.store()
                    for index in 0..<saved { #expect(try await store.text(key("p/\(index)")) == "p \(index)", place) }
                    if mode == "rekey" { #expect(try await store.text(key("p/1")) == "old 1", place) }
                    #expect(try await store.verify().problems == [], place)
                } catch {
                    Issue.record("\(place): \(error)")
                }
            }
        }
        #expect(saved == (mode == "save" ? 6 : 0))
    }

    @Test(arguments: ["make", "export"])
    func `a new file is synced before it gets its name, and its name after that`(_ mode: String) async throws {
        let folder = try VaultFolder()
        if mode == "make" { try VaultKeyFile.create(at: folder.keyFile) } else { _ = try await sample(folder) }
        let (run, steps) = try await WatchedDisk(folder: folder).run(mode, "new", 1)
        #expect(run.status == 0, "\(run.outputText)")
        let temporaryFile = steps.filter { TemporaryFile.isTemporary($0.file) }
        #expect(
            temporaryFile.count > 3 && temporaryFile.first?.change == .made && temporaryFile.last?.change == .synced)
        let last = try #require(steps.last { $0.isOnDisk })
        #expect(last.change == .synced && last.file.isEmpty)
    }

    @Test func `new folders are synced into their parents, and the rollback record's name too`()
        async throws
    {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let disk = try WatchedDisk(folder: folder)
        let vault = folder.path + "/deep/down/vault"
        let made = try await disk.run("make", "-", 0, vault: vault)
        #expect(made.run.status == 0, "\(made.run.outputText)")
        let synced = made.steps.filter { $0.change == .synced }.map(\.file)
        for name in ["", "deep", "deep/down"] { #expect(synced.contains(name), "\(name)") }
        let (run, steps) = try await disk.run("save", "p", 1, vault: vault, memory: folder.path + "/state/vaults")
        #expect(run.status == 0, "\(run.outputText)")
        let record = try #require(
            steps.firstIndex { $0.change == .made && $0.file.hasPrefix("state/vaults/") })
        #expect(steps[..<record].contains { $0.change == .synced && $0.file == "state" })
        #expect(steps[record...].contains { $0.change == .synced && $0.file == "state/vaults" })
    }

    @Test(arguments: ["save", "rekey", "export", "items"])
    func `written files contain no name or secret in the open`(_ mode: String) async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let canaries = ["canary-secret-8a1f", "canary-account-77b2", "canary-service-01cd", "canary-label-3e5a"]
        for index in 0..<20 {
            try await store.save(
                secret(canaries[0]), for: try CredentialKey(service: canaries[2], account: "\(canaries[1]) \(index)"),
                options: SaveOptions(label: canaries[3]))
        }
        let (run, steps) = try await WatchedDisk(folder: folder).run(mode, "canary-prefix", 1)
        #expect(run.status == 0, "\(run.outputText)")
        var written = Data()
        for step in steps { if case .written(let bytes, _) = step.change { written += Data(bytes) } }
        #expect(written.count > 4096)
        for canary in ["canary-", "writer"] { #expect(written.range(of: Data(canary.utf8)) == nil) }
        // And no other file was made than those that it is known to make.
        let others = Set(steps.filter { $0.change == .made }.map(\.file)).filter { !TemporaryFile.isTemporary($0) }
        #expect(others.isSubset(of: ["vault-journal"]))
    }
}
