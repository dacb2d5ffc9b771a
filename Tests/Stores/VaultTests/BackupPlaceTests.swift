import Foundation
import LatchkeyCredentials
import LatchkeyLog
import Testing
import TestServices

@testable import LatchkeyVault

/// Where an export may be, and what an import takes: what others see is fine, what they can change is not.
@Suite struct BackupPlaceTests {
    /// A vault with a secret in it.
    private func filled(_ folder: VaultFolder) async throws -> VaultStore {
        let store = try await folder.store()
        try await store.save(secret("hunter2"), for: key("ada"))
        return store
    }

    private func makeFolder(_ folder: VaultFolder, mode: Int) throws -> String {
        let path = folder.path + "/backups"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try folder.setMode(mode, of: path)
        return path
    }

    private func open(_ path: String, _ folder: VaultFolder) async throws(StoreError) -> VaultStore {
        try await LockedVault.open(at: path, for: .backup).unlock(with: .keyFile(folder.keyFile))
    }

    /// `vault export ~/backup.vault` was refused in an ordinary home, and what was exported to /tmp was not imported.
    @Test(arguments: [0o755, 0o711, 0o700, 0o1777, 0o1775])
    func `a backup goes to a place that others see, can be restored, and isn't used there`(
        _ mode: Int
    ) async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder)
        let path = try makeFolder(folder, mode: mode) + "/odd %3f?#name"
        try VaultStore.checkPlace(forNewVaultAt: path, for: .backup)
        #expect(try await store.export(to: path, unlockedBy: .keyFile(folder.keyFile)).itemCount == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // Copied by an ordinary cp, it can be read by others.
        try folder.setMode(0o644, of: path)
        let other = try VaultFolder()
        let target = try await other.store()
        let source = try await open(path, folder)
        #expect(try await target.importAll(from: source, onConflict: .refuse).addedCount == 1)
        #expect(try await target.text(key("ada")) == "hunter2")
        let used = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: path, unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(used?.code == .permissionDenied)
    }

    @Test(arguments: [0o777, 0o775, 0o702])
    func `a backup in a folder that others can change is refused, before and after`(_ mode: Int) async throws {
        let folder = try VaultFolder()
        let store = try await filled(folder)
        let directory = try makeFolder(folder, mode: 0o700)
        let path = directory + "/backup"
        _ = try await store.export(to: path, unlockedBy: .keyFile(folder.keyFile))
        try folder.setMode(mode, of: directory)
        for place in [directory + "/new", directory + "/missing/new"] {
            let asked = await refusal { () throws(StoreError) in
                try VaultStore.checkPlace(forNewVaultAt: place, for: .backup)
            }
            #expect(asked?.code == .permissionDenied)
            let made = await refusal { () async throws(StoreError) in
                try await store.export(to: place, unlockedBy: .keyFile(folder.keyFile))
            }
            #expect(made?.code == .permissionDenied)
        }
        #expect(
            await refusal { () async throws(StoreError) in try await open(path, folder) }?.code == .permissionDenied)
        try folder.setMode(0o700, of: directory)
    }

    @Test(arguments: [0o620, 0o602, 0o666])
    func `a backup that others can write to is refused`(_ mode: Int) async throws {
        let folder = try VaultFolder()
        _ = try await filled(folder)
        try folder.setMode(mode, of: folder.vault)
        let error = await refusal { () async throws(StoreError) in try await open(folder.vault, folder) }
        #expect(error?.code == .permissionDenied)
        #expect(error?.cause.text.contains("can be changed by other users") == true)
    }

    @Test func `a backup of another user is refused`() async throws {
        let folder = try VaultFolder()
        guard geteuid() == 0 else {
            // Nobody but root can give a file away: root's own are those of another user.
            let error = await refusal { () async throws(StoreError) in try await open("/etc/hostname", folder) }
            #expect(error?.code == .permissionDenied)
            return
        }
        _ = try await filled(folder)
        let path = try makeFolder(folder, mode: 0o1777) + "/backup"
        try FileManager.default.copyItem(atPath: folder.vault, toPath: path)
        #expect(unsafe chown(path, 65534, 65534) == 0)
        #expect(
            await refusal { () async throws(StoreError) in try await open(path, folder) }?.code == .permissionDenied)
    }

    /// A second name, as backups with hard links have one, is no danger for what is only read.
    @Test func `a backup with a second name is read`() async throws {
        let folder = try VaultFolder()
        _ = try await filled(folder)
        let path = try makeFolder(folder, mode: 0o700) + "/backup"
        try FileManager.default.linkItem(atPath: folder.vault, toPath: path)
        #expect(try await open(path, folder).text(key("ada")) == "hunter2")
    }

    /// In /tmp anyone can put a journal beside a backup; SQLite would play it back into the file, and cut it to a page.
    @Test func `a stranger's journal beside a backup has no effect`() async throws {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let folder = try VaultFolder()
        _ = try await filled(folder)
        let path = try makeFolder(folder, mode: 0o1777) + "/backup"
        try folder.replace(path, with: try folder.contents())
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        var journal = magic + number(0) + number(7) + number(1) + number(512) + number(4096)
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        try folder.replace(path + "-journal", with: journal)
        let before = try folder.contents(path)
        let other = try VaultFolder()
        let target = try await other.store()
        #expect(try await target.importAll(from: open(path, folder), onConflict: .refuse).addedCount == 1)
        #expect(try folder.contents(path) == before)
    }

    /// A stick with FAT has one mode for all its files; NFS, and much in user space, renames only what it may replace.
    @Test func `a backup goes onto a disk without modes, and replaces no file there`() async throws {
        let folder = try VaultFolder()
        _ = try await filled(folder)
        let writer = try BuiltProducts.program("vault-writer")
        let stick = ["DISK_FOLDER": folder.path, "DISK_STICK": "1"]
        let export = ["export", folder.vault, folder.keyFile, "copy", "1"]
        try await writer.run(export, environment: stick).successful("export")
        let path = folder.vault + "-copy-0"
        #expect(try await open(path, folder).text(key("ada")) == "hunter2")
        #expect(folder.names == ["key", "vault", "vault-copy-0", "vault-journal"])
        let before = try folder.contents(path)
        #expect(try await writer.run(export, environment: stick).status != 0)
        #expect(try folder.contents(path) == before)
        // A vault to use has to have its mode.
        let made = try await writer.run(
            ["make", folder.path + "/new", folder.keyFile, "-", "0"], environment: stick)
        #expect(made.status != 0)
        #expect(folder.names == ["key", "vault", "vault-copy-0", "vault-journal"])
    }

    @Test func `the check of a place makes nothing there`() async throws {
        let folder = try VaultFolder()
        try VaultStore.checkPlace(forNewVaultAt: folder.path + "/a/b/vault", for: .daily)
        #expect(folder.names == [])
        try folder.replace(folder.path + "/file", with: [])
        for path in [folder.path + "/file", folder.path + "/file/vault"] {
            let error = await refusal { () throws(StoreError) in
                try VaultStore.checkPlace(forNewVaultAt: path, for: .daily)
            }
            #expect(error != nil, "\(path)")
        }
    }
}
