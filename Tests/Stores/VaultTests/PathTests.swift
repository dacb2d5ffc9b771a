import Foundation
import LatchkeyCredentials
import LatchkeyLog
import Testing
import TestServices

@testable import LatchkeyVault

@Suite struct PathTests {
    private func code(_ folder: VaultFolder, at path: String? = nil) async -> StoreError.Code? {
        await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: path ?? folder.vault, unlockedBy: .keyFile(folder.keyFile))
        }?.code
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `a new vault is a private file in a private directory`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let path = folder.path + "/data/latchkey/vault"
        let store = try await VaultStore.create(at: path, unlockedBy: .keyFile(folder.keyFile))
        #expect(try mode(path) == 0o600)
        #expect(try mode(folder.keyFile) == 0o600)
        #expect(try mode(folder.path + "/data/latchkey") == 0o700)
        #expect(store.identity == StoreIdentity(backend: "vault", location: path))
        try await store.save(secret("s"), for: key("ada"))
        #expect(try mode(path + "-journal") == 0o600)
    }

    @Test func `a missing vault is unavailable, with a hint how to make one`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.path + "/no/vault", unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.hint != nil)
        #expect(folder.names == ["key"])
    }

    @Test func `making a vault over an existing file throws conflict and leaves the file`() async throws {
        let folder = try VaultFolder()
        try await folder.store().save(secret("s"), for: key("ada"))
        let before = try folder.contents()
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.create(at: folder.vault, unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(error?.code == .conflict)
        #expect(try folder.contents() == before)
        let second = await refusal { () throws(StoreError) in try VaultKeyFile.create(at: folder.keyFile) }
        #expect(second?.code == .conflict)
        #expect(folder.names == ["key", "vault", "vault-journal"])
    }

    /// SQLite overwrote and deleted files of that name, among them other vaults, backups and keys.
    @Test func `a file that isn't a journal stays, and nothing new has a journal's name`() async throws {
        let folder = try VaultFolder()
        let diary = folder.vault + "-journal"
        let text = Array("dear diary".utf8)
        try folder.replace(diary, with: text)
        let new = await refusal { () async throws(StoreError) in try await folder.store() }
        #expect(new?.code == .permissionDenied && new?.hint?.text == "rename that file")
        try FileManager.default.removeItem(atPath: diary)
        let store = try await folder.store()
        try await store.save(secret("s"), for: key("ada"))
        try folder.replace(diary, with: text)
        #expect(await code(folder) == .permissionDenied)
        #expect(try folder.contents(diary) == text)
        try FileManager.default.removeItem(atPath: diary)
        let vault = await refusal { () async throws(StoreError) in
            try await VaultStore.create(at: diary, unlockedBy: .keyFile(folder.keyFile))
        }
        let export = await refusal { () async throws(StoreError) in
            try await store.export(to: diary, unlockedBy: .keyFile(folder.keyFile))
        }
        let keyFile = await refusal { () throws(StoreError) in try VaultKeyFile.create(at: diary) }
        for error in [vault, export, keyFile] { #expect(error?.code == .permissionDenied) }
        #expect(!FileManager.default.fileExists(atPath: diary))
        // One that a killed process left, or the system before it wrote the content, is in nobody's way.
        try folder.replace(diary, with: [UInt8](repeating: 0, count: 512))
        #expect(try await folder.store().read(key("ada"), as: Password.self) != nil)
    }

    @Test func `of many concurrent creations of one vault one succeeds and nothing is left over`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await refusal { () async throws(StoreError) in
                        try await VaultStore.create(at: folder.vault, unlockedBy: .keyFile(folder.keyFile))
                    }?.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 1)
        #expect(codes.filter { $0 == .conflict }.count == 7)
        #expect(folder.names == ["key", "vault"])
        #expect(await code(folder) == nil)
    }

    @Test func `a directory instead of a vault is refused`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        #expect(await code(folder, at: folder.path) == .permissionDenied)
    }

    @Test func `a symbolic link to a vault is refused`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.vault)
        #expect(await code(folder, at: link) == .permissionDenied)
    }

    @Test func `a vault behind a directory's symbolic link is opened at its own path`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        let opened = try await VaultStore.open(at: link + "/vault", unlockedBy: .keyFile(folder.keyFile))
        #expect(opened.identity == store.identity)
    }

    @Test(arguments: [0o000, 0o077, 0o777])
    func `the umask affects no mode`(_ umask: Int) async throws {
        let folder = try VaultFolder()
        let writer = try BuiltProducts.program("vault-writer").path
        let path = folder.path + "/a/b/vault"
        try VaultKeyFile.create(at: folder.keyFile)
        for arguments in [["make", path, folder.keyFile, "-", "0"], ["save", path, folder.keyFile, "p", "1"]] {
            let run = try await Program("/bin/sh").run(
                ["-c", "umask \(String(umask, radix: 8)); exec \"$@\"", "sh", writer] + arguments,
                environment: ["VAULT_MEMORY": folder.path + "/c/d"])
            #expect(run.status == 0, "\(run.outputText)")
        }
        for file in ["a/b/vault", "a/b/vault-journal"] { #expect(try mode(folder.path + "/" + file) == 0o600) }
        for directory in ["a", "a/b", "c", "c/d"] { #expect(try mode(folder.path + "/" + directory) == 0o700) }
        let memory = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/c/d")
        #expect(memory.count == 1)
        for file in memory { #expect(try mode(folder.path + "/c/d/" + file) == 0o600) }
    }

    @Test func `a vault whose directory is exchanged while open is neither read nor changed anywhere`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        var paths: [String] = []
        for name in ["one", "two"] {
            let path = folder.path + "/\(name)/vault"
            paths.append(path)
            let store = try await VaultStore.create(at: path, unlockedBy: .keyFile(folder.keyFile))
            try await store.save(secret(name), for: key("ada"))
        }
        let store = try await VaultStore.open(at: paths[0], unlockedBy: .keyFile(folder.keyFile))
        try await store.save(secret("first"), for: key("bob"))
        let before = try paths.map { try folder.contents($0) }
        try FileManager.default.moveItem(atPath: folder.path + "/one", toPath: folder.path + "/away")
        try FileManager.default.moveItem(atPath: folder.path + "/two", toPath: folder.path + "/one")
        for error in [
            await refusal { () async throws(StoreError) in try await store.save(secret("x"), for: key("ada")) },
            await refusal { () async throws(StoreError) in _ = try await store.text(key("ada")) },
        ] {
            #expect(error?.code == .unavailable)
            #expect(error?.cause.text.contains("moved or replaced") == true)
        }
        #expect(try folder.contents(folder.path + "/away/vault") == before[0])
        #expect(try folder.contents(paths[0]) == before[1])
        let second = try await VaultStore.open(at: paths[0], unlockedBy: .keyFile(folder.keyFile))
        #expect(try await second.text(key("ada")) == "two")
    }

    @Test func `while directories are exchanged a vault opens as the one or as the other`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        for name in ["one", "two"] {
            let store = try await VaultStore.create(
                at: folder.path + "/\(name)/vault", unlockedBy: .keyFile(folder.keyFile))
            for account in ["a", "b"] { try await store.save(secret(name), for: key(account)) }
        }
        let exchanging = Task.detached {
            while !Task.isCancelled {
                for (old, new) in [("one", "none"), ("two", "one"), ("none", "two")] {
                    unsafe rename(folder.path + "/" + old, folder.path + "/" + new)
                }
                try? await Task.sleep(for: .microseconds(Int.random(in: 0...2000)))
            }
        }
        var opened: Set<String> = []
        var rounds = 0
        while rounds < (runsLong ? 5000 : 200) || (opened.isEmpty && rounds < 20_000) {
            rounds += 1
            do throws(StoreError) {
                let store = try await VaultStore.open(
                    at: folder.path + "/one/vault", unlockedBy: .keyFile(folder.keyFile))
                let texts = try await [store.text(key("a")), store.text(key("b"))]
                #expect(texts[0] != nil && texts[0] == texts[1])
                opened.formUnion(texts.compactMap(\.self))
            } catch {
                #expect([.unavailable, .permissionDenied].contains(error.code), "\(error)")
            }
        }
        exchanging.cancel()
        await exchanging.value
        #expect(!opened.isEmpty)
    }

    @Test func `a file, a directory or a key file of another user is refused`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let path = folder.path + "/own/vault"
        _ = try await VaultStore.create(at: path, unlockedBy: .keyFile(folder.keyFile))
        guard geteuid() == 0 else {
            // Nobody but root can give a file away: root's own are those of another user.
            let open = await code(folder, at: "/etc/hostname")
            #expect(open == .permissionDenied)
            let error = await refusal { () throws(StoreError) in _ = try VaultKeyFile.read("/etc/hostname") }
            #expect(error?.code == .permissionDenied)
            return
        }
        for place in [path, folder.path + "/own", folder.keyFile, folder.path] {
            #expect(unsafe chown(place, 65534, 65534) == 0)
            let refused = await code(folder, at: path)
            #expect(refused == .permissionDenied, "\(place)")
            #expect(unsafe chown(place, 0, 0) == 0)
            let taken = await code(folder, at: path)
            #expect(taken == nil, "\(place)")
        }
    }

    @Test func `a vault with a second name is refused`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try FileManager.default.linkItem(atPath: folder.vault, toPath: folder.path + "/second")
        #expect(await code(folder) == .permissionDenied)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o601, 0o620])
    func `a vault that others can use is refused`(_ mode: Int) async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try folder.setMode(mode, of: folder.vault)
        #expect(await code(folder) == .permissionDenied)
    }

    @Test(arguments: [0o750, 0o705, 0o770, 0o777, 0o1777, 0o711])
    func `a vault in a directory that others can use is refused`(_ mode: Int) async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try folder.setMode(mode, of: folder.path)
        #expect(await code(folder) == .permissionDenied)
    }

    @Test func `a vault below a directory that others can change is refused`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let path = folder.path + "/shared/own/vault"
        _ = try await VaultStore.create(at: path, unlockedBy: .keyFile(folder.keyFile))
        try folder.setMode(0o777, of: folder.path + "/shared")
        #expect(await code(folder, at: path) == .permissionDenied)
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.create(at: path + "2", unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(error?.code == .permissionDenied)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o610])
    func `a key file that others can use is refused`(_ mode: Int) async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try folder.setMode(mode, of: folder.keyFile)
        #expect(await code(folder) == .permissionDenied)
    }

    @Test(arguments: [0, 1, 31, 33, 64, 100_000])
    func `a key file of another length isn't a key file`(_ count: Int) async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try folder.replace(folder.keyFile, with: [UInt8](repeating: 7, count: count))
        #expect(await code(folder) == .wrongKey)
    }

    @Test func `a key file that is missing, a link or a directory is refused`() async throws {
        let folder = try VaultFolder()
        try await folder.store()
        try FileManager.default.moveItem(atPath: folder.keyFile, toPath: folder.path + "/real")
        #expect(await code(folder) == .unavailable)
        try FileManager.default.createSymbolicLink(atPath: folder.keyFile, withDestinationPath: folder.path + "/real")
        #expect(await code(folder) == .permissionDenied)
        try FileManager.default.removeItem(atPath: folder.keyFile)
        try FileManager.default.createDirectory(atPath: folder.keyFile, withIntermediateDirectories: false)
        #expect(await code(folder) == .permissionDenied)
    }

    @Test(arguments: ["", "/", ".", "..", "dir/", "a/.."])
    func `a path without a file name is refused`(_ path: String) async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        #expect(await code(folder, at: path) == .unavailable)
    }
}
