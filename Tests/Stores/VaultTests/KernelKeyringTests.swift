import Foundation
import Glibc
import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyVault

/// With the kernel's own keyring. Each key has the name of the test's own vault, and is taken away at the test's end.
///
/// Where the kernel refuses (some containers), the tests show that unlocking says so.
@Suite struct KernelKeyringTests {
    private let folder: VaultFolder
    private let store: VaultStore

    init() async throws {
        folder = try VaultFolder()
        store = try await folder.store()
        try await store.save(secret("s3cret"), for: key("ada"))
    }

    /// Runs a test where the kernel takes a key, and takes it away at the end.
    private func unlocked(for duration: Duration = .seconds(60), _ body: () async throws -> Void) async throws {
        do throws(StoreError) {
            try VaultStore.checkUnlocking()
        } catch {
            print("note: the kernel keeps no key here (\(error)): KernelKeyringTests shows only that this is said")
            #expect(throws: error) { try store.keepUnlocked(for: duration) }
            return
        }
        try store.keepUnlocked(for: duration)
        do {
            try await body()
        } catch {
            Issue.record(error)
        }
        _ = try await LockedVault.open(at: folder.vault).endUnlocking()
    }

    private func problem() async -> StoreError? {
        await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: .kernelKeyring)
        }
    }

    /// The lines of /proc/keys for this vault: id, flags, uses, time left, permissions, owner, group, type, name.
    private func listed() throws -> [[String]] {
        let name = KernelKeyring.name(store.keys.vault) + ":"
        return try String(kernelFile: "/proc/keys").split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }.filter { $0.contains(name) }
    }

    @Test func `a vault that was never unlocked is locked`() async throws {
        let code = await problem()?.code
        #expect(code == .locked || code == .unavailable)
    }

    @Test func `an unlocked vault opens without its key, until it is locked`() async throws {
        try await unlocked {
            let other = try await VaultStore.open(at: folder.vault, unlockedBy: .kernelKeyring)
            #expect(try await other.text(key("ada")) == "s3cret")
            try await other.save(secret("2"), for: key("bob"))
            #expect(try await store.verify().problems == [])
            #expect(try await LockedVault.open(at: folder.vault).endUnlocking())
            #expect(await problem()?.code == .locked)
            #expect(try await LockedVault.open(at: folder.vault).endUnlocking() == false)
        }
    }

    @Test func `the key in the kernel is readable for this user, for a time, and can't be changed`() async throws {
        try await unlocked {
            // Other keys of this name may be on their way out.
            let line = try #require(try listed().last)
            #expect(line[3] != "perm" && line[3] != "expd", "it has no time")
            #expect(line[4] == "1b0b0000")
            #expect(line[5] == "\(geteuid())")
        }
    }

    @Test func `unlocking again replaces the earlier key`() async throws {
        try await unlocked {
            try store.keepUnlocked(for: .seconds(30))
            #expect(try await LockedVault.open(at: folder.vault).endUnlocking())
            #expect(await problem()?.code == .locked)
        }
    }

    @Test func `the vault locks itself at the end of its time`() async throws {
        try await unlocked(for: .seconds(1)) {
            let cancellation = ContinuousClock.now + .seconds(60)
            while await problem() == nil, ContinuousClock.now < cancellation {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(await problem()?.code == .locked)
        }
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(7 * 86_400 + 1)] as [Duration])
    func `a time outside of the bounds is refused`(_ duration: Duration) async throws {
        let error = #expect(throws: StoreError.self) { try store.keepUnlocked(for: duration) }
        #expect(error?.code == .unsupported)
    }

    @Test func `an unlocked vault opens after its slot is removed, and no longer after a rekeying`() async throws {
        try await store.addSlot(passphrase("p"), name: .passphrase, cost: .cheap)
        try await unlocked {
            #expect(try await store.removeSlot(.keyFile))
            let other = try await VaultStore.open(at: folder.vault, unlockedBy: .kernelKeyring)
            #expect(try await other.text(key("ada")) == "s3cret")
            let old = store.keys.root.duplicate()
            try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("p")).rekey()
            #expect(await problem()?.code == .locked)
            // Whoever had read it before, and puts it there again.
            var sink = KernelKeyringSink(vault: store.keys.vault, seconds: 60)
            try old.pour(into: &sink)
            #expect(await problem()?.code == .locked)
            // A process that opened the vault by it has nothing to go on with.
            let refused = await refusal { () async throws(StoreError) in try await other.text(key("ada")) }
            #expect(refused?.code == .wrongKey)
            #expect(refused?.hint?.text.contains("open the vault again") == true)
        }
    }

    @Test func `another key under the vault's name opens nothing and damages nothing`() async throws {
        try await unlocked {
            let before = try folder.contents()
            for count in [32, 31, 33] {
                let bytes = try Sealing.randomOctets(count)
                try KernelKeyringSink(vault: store.keys.vault, seconds: 60).receive(bytes.span)
                #expect(await problem()?.code == .locked, "\(count) bytes")
            }
            #expect(try folder.contents() == before)
        }
    }

    @Test func `one vault's key opens no other vault`() async throws {
        let other = try VaultFolder()
        _ = try await other.store()
        try await unlocked {
            let error = await refusal { () async throws(StoreError) in
                try await VaultStore.open(at: other.vault, unlockedBy: .kernelKeyring)
            }
            #expect(error?.code == .locked)
        }
    }

    @Test func `a slot can't be made from a key in the kernel`() async throws {
        let error = await refusal { () async throws(StoreError) in
            try await store.addSlot(.kernelKeyring, name: .passphrase)
        }
        #expect(error?.code == .unsupported)
        #expect(try await store.slots().count == 1)
    }
}
