import Foundation
import Glibc
import LatchkeyCredentials
import LatchkeySecrets
import Testing

@testable import LatchkeyVault

/// A directory of credentials as systemd 252 makes it for a unit, seen in one: the directory 0500, its files 0400, both
/// of the unit's user.
struct UnitCredentials {
    let directory: String

    init(in folder: VaultFolder, name: String = "unit") throws {
        directory = folder.path + "/" + name
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
    }

    func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o400) throws {
        try setMode(0o700)
        let path = directory + "/" + name
        try? FileManager.default.removeItem(atPath: path)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try setMode(mode, of: name)
        try setMode(0o500)
    }

    func setMode(_ mode: Int, of name: String = "") throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory + "/" + name)
    }

    func key(_ name: String = "latchkey") -> SystemCredential {
        SystemCredential(name: SystemCredentialName(name)!, directory: directory)
    }
}

@Suite struct SystemCredentialTests {
    private let folder: VaultFolder
    private let unit: UnitCredentials

    init() throws {
        folder = try VaultFolder()
        unit = try UnitCredentials(in: folder)
        try unit.write("latchkey", try Sealing.randomOctets(32))
    }

    private func problem(_ credential: SystemCredential? = nil) async -> StoreError? {
        await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: .systemCredential(credential ?? unit.key()))
        }
    }

    @Test func `a vault opens with its original credential, and its file has the credential's name`() async throws {
        let made = try await VaultStore.create(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        try await made.save(secret("s3cret"), for: key("ada"))
        let opened = try await VaultStore.open(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        #expect(try await opened.text(key("ada")) == "s3cret")
        let slots = try await opened.slots()
        #expect(slots.map(\.kind) == [.systemCredential])
        #expect(slots.map(\.name) == [.systemCredential])
        let locked = try await LockedVault.open(at: folder.vault)
        #expect(locked.slots.map(\.kind) == [.systemCredential])
        #expect(locked.slots.map(\.systemCredential?.text) == ["latchkey"])
    }

    @Test func `another credential has a distinct error, and the file stays unchanged`() async throws {
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        let before = try folder.contents()
        try unit.write("other", try Sealing.randomOctets(32))
        #expect(await problem(unit.key("other"))?.code == .wrongKey)
        #expect(await problem(unit.key("missing"))?.code == .locked)
        // The same bytes as a key file are no key of this slot.
        try folder.replace(folder.keyFile, with: try folder.contents(unit.directory + "/latchkey"))
        #expect(await refusal { () async throws(StoreError) in try await folder.store() }?.code == .wrongKey)
        #expect(try folder.contents() == before)
    }
}

extension SystemCredentialTests {
    @Test(arguments: [[], [1], [UInt8](repeating: 7, count: 31), [UInt8](repeating: 7, count: 33)])
    func `a credential of another length is refused`(_ bytes: [UInt8]) async throws {
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        try unit.write("latchkey", bytes)
        #expect(await problem()?.code == .wrongKey)
    }

    /// 0440 and 0550 are how an access list for the unit's user shows in the mode.
    @Test(arguments: [(0o400, 0o500), (0o440, 0o550), (0o440, 0o500)])
    func `the modes that systemd sets are accepted`(_ file: Int, _ directory: Int) async throws {
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        try unit.setMode(file, of: "latchkey")
        try unit.setMode(directory)
        #expect(await problem() == nil)
    }

    @Test(arguments: [(0o404, 0o500), (0o420, 0o500), (0o444, 0o555), (0o400, 0o501), (0o400, 0o570), (0o400, 0o777)])
    func `a credential that others can use or change is refused`(_ file: Int, _ directory: Int) async throws {
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        try unit.setMode(file, of: "latchkey")
        try unit.setMode(directory)
        #expect(await problem()?.code == .permissionDenied)
        try unit.setMode(0o700)
    }

    @Test func `links, directories and pipes are refused`() async throws {
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        let place = unit.directory
        try unit.setMode(0o700)
        #expect(unsafe symlink(place + "/latchkey", place + "/symbolic") == 0)
        #expect(await problem(unit.key("symbolic"))?.code == .permissionDenied)
        #expect(unsafe mkdir(place + "/folder", 0o500) == 0)
        #expect(await problem(unit.key("folder")) != nil)
        #expect(unsafe mkfifo(place + "/pipe", 0o400) == 0)
        #expect(await problem(unit.key("pipe"))?.code == .permissionDenied)
        #expect(unsafe link(place + "/latchkey", place + "/second") == 0)
        #expect(await problem()?.code == .permissionDenied)
        #expect(unsafe unlink(place + "/second") == 0)
        #expect(await problem() == nil)
        #expect(unsafe symlink(place, folder.path + "/way") == 0)
        let roundabout = SystemCredential(name: unit.key().name, directory: folder.path + "/way")
        #expect(await problem(roundabout) != nil)
        let relative = SystemCredential(name: unit.key().name, directory: "unit")
        #expect(await problem(relative)?.code == .locked)
    }

    /// Root gives it away; anybody else finds one of root's that others can read.
    @Test func `a credential of another user is refused`() async throws {
        _ = try await VaultStore.create(at: folder.vault, unlockedBy: .systemCredential(unit.key()))
        guard geteuid() == 0 else {
            let foreign = SystemCredential(name: SystemCredentialName("hostname")!, directory: "/etc")
            #expect(await problem(foreign)?.code == .permissionDenied)
            return
        }
        #expect(unsafe chown(unit.directory + "/latchkey", 65534, 65534) == 0)
        #expect(await problem()?.code == .permissionDenied)
        #expect(unsafe chown(unit.directory + "/latchkey", 0, 0) == 0)
        #expect(unsafe chown(unit.directory, 65534, 65534) == 0)
        #expect(await problem()?.code == .permissionDenied)
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "../a", "/a", "a:b", "a\nb", "a\0", "naïve", String(repeating: "a", count: 256),
    ]
    )
    func `an invalid credential's name is absent`(_ text: String) {
        #expect(SystemCredentialName(text) == nil)
    }

    @Test func `a slot that leads out of the directory is damage`() async throws {
        let keys = try VaultKeys.random(.random())
        let slot = try NewKeySlot(
            .systemCredential(unit.key()), name: .systemCredential, cost: .cheap, created: UnixTime(seconds: 1),
            vault: keys.vault)
        let sound = try slot.sealed(keys).encode()
        #expect(try KeySlot.decode(sound)?.encode() == sound)
        let start = try #require(sound.content.firstRange(of: Array("latchkey".utf8))).lowerBound
        for (index, byte) in [(0, UInt8(ascii: "/")), (3, 0), (7, 0x80)] {
            var content = sound.content
            content[start + index] = byte
            let error = #expect(throws: StoreError.self) {
                try KeySlot.decode(NamedRecord(name: sound.name, content: content))
            }
            #expect(error?.code == .corrupted)
        }
        // A name that was exchanged for another is no longer the slot's own.
        var content = sound.content
        content[start] = UInt8(ascii: "L")
        let other = try #require(try KeySlot.decode(NamedRecord(name: sound.name, content: content)))
        let isOpen = slot.keys.open(other.box, of: other.head, vault: keys.vault) != nil
        #expect(!isOpen)
    }
}
