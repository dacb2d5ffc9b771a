import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Exports and imports.
@Suite struct CopyingTests {
    private func filled(_ folder: VaultFolder, _ count: Int) async throws -> VaultStore {
        let store = try await folder.store()
        for index in 0..<count { try await store.save(secret("secret \(index)"), for: key("\(index)")) }
        return store
    }

    @Test func `an export holds everything with its versions and times, under separate keys`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 230)
        let file = folder.path + "/export"
        #expect(try await store.export(to: file, unlockedBy: passphrase("p"), cost: .cheap).itemCount == 230)
        let export = try await VaultStore.open(at: file, unlockedBy: passphrase("p"))
        #expect(try await Set(export.list().all()) == Set(store.list().all()))
        for index in 0..<230 {
            let text = try await export.text(key("\(index)"))
            #expect(text == "secret \(index)")
        }
        let report = try await export.verify()
        #expect(report.problems == [] && report.itemCount == 230)
        #expect(export.keys.vault != store.keys.vault)
        let wrong = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: file, unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(wrong?.code == .wrongKey)
        #expect(folder.names.allSatisfy { !$0.contains(".new-") })
    }

    @Test func `an export of an unsound vault leaves no file`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 5)
        try store.table.write(Cancellation(.standard)) { (transaction) throws(StoreError) in
            try transaction.remove(transaction.items(after: nil, limit: 1)[0].lookup)
        }
        let names = folder.names
        let error = await refusal { () async throws(StoreError) in
            try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(error?.code == .corrupted)
        #expect(folder.names == names)
        let other = try VaultFolder()
        let target = try await filled(other, 2)
        let refused = await refusal { () async throws(StoreError) in
            try await target.importAll(from: store, onConflict: .replace)
        }
        #expect(refused?.code == .corrupted)
        #expect(try await target.list().all().count == 2)
        #expect(try await target.verify().problems == [])
    }

    @Test func `an export never replaces a file`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 1)
        let before = try folder.contents()
        let error = await refusal { () async throws(StoreError) in
            try await store.export(to: folder.vault, unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(error?.code == .conflict)
        #expect(try folder.contents() == before)
    }

    @Test(arguments: [VaultImportChoice.refuse, .keep, .replace])
    func `an import adds missing items and treats conflicts as requested`(
        _ choice: VaultImportChoice
    ) async throws {
        let (here, there) = (try VaultFolder(), try VaultFolder())
        let (source, target) = (try await filled(there, 12), try await here.store())
        try await target.save(secret("mine"), for: key("3"))
        try await target.save(secret("only here"), for: key("own"))
        // Others have rekeyed both.
        try await here.store().rekey()
        try await there.store().rekey()
        let before = try here.contents()
        guard choice != .refuse else {
            let error = await refusal { () async throws(StoreError) in
                try await target.importAll(from: source, onConflict: choice)
            }
            #expect(error?.code == .conflict)
            #expect(try here.contents() == before)
            return
        }
        let result = try await target.importAll(from: source, onConflict: choice)
        #expect(result.addedCount == 11)
        #expect(result.replacedCount == (choice == .replace ? 1 : 0))
        #expect(result.keptCount == (choice == .keep ? 1 : 0))
        #expect(try await target.text(key("3")) == (choice == .replace ? "secret 3" : "mine"))
        #expect(try await target.text(key("own")) == "only here")
        #expect(try await target.text(key("11")) == "secret 11")
        let report = try await target.verify()
        #expect(report.problems == [] && report.itemCount == 13)
        // The same again changes nothing but what differs.
        let again = try await target.importAll(from: source, onConflict: .keep)
        #expect(again.keptCount == 12 && again.addedCount == 0)
    }

    @Test func `a vault imported into itself stays unchanged`() async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder, 3)
        let before = try folder.contents()
        for choice in [VaultImportChoice.refuse, .keep, .replace] {
            let done = try await store.importAll(
                from: try await folder.store(), onConflict: choice, deadline: .after(.seconds(300)))
            #expect(done.keptCount == 3)
        }
        #expect(try folder.contents() == before)
    }
}
