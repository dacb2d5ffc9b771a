import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Disks that refuse. A limit on the size of files stands in for a full disk: it works without privileges.
@Suite struct DiskTests {
    private func key(_ account: String) -> CredentialKey { try! CredentialKey(service: "writer", account: account) }

    /// Runs the writer where no file may grow past so many KiB.
    private func run(_ mode: String, _ folder: VaultFolder, kibibytes: Int) async throws -> ProgramRun {
        let writer = try BuiltProducts.program("vault-writer").path
        // Ignored, the signal becomes an error of write(2), as a full disk is one.
        return try await Program("/bin/bash").run([
            "-c", "trap '' XFSZ; ulimit -f \(kibibytes); exec \"$@\"", "bash", writer, mode, folder.vault,
            folder.keyFile,
            "big", "200",
        ])
    }

    @Test func `a save that finds no room is refused, and the old content stays`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("old"), for: key("big/0"))
        let run = try await run("save", folder, kibibytes: 32)
        #expect(run.status == 70)
        #expect(run.outputText.contains("store.cannot-write"), "\(run.outputText.suffix(300))")
        let saved = run.outputText.split(separator: "\n").filter { $0.hasPrefix("saved") }.count
        #expect(saved > 0 && saved < 200)
        // All that was said to be saved is there, and nothing else.
        for index in 0..<saved { #expect(try await store.text(key("big/\(index)")) == "big \(index)") }
        let report = try await store.verify()
        #expect(report.problems == [])
        #expect(report.itemCount == saved)
        try await store.save(secret("new"), for: key("big/0"))
        #expect(try await store.text(key("big/0")) == "new")
    }

    @Test func `a vault isn't made without enough room, and nothing is left over`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let run = try await run("make", folder, kibibytes: 4)
        #expect(run.status == 70)
        #expect(run.outputText.contains("store.cannot-write"), "\(run.outputText.suffix(300))")
        #expect(folder.names == ["key"])
    }

    @Test func `the owner can read a vault in a directory without write permission`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("s"), for: key("ada"))
        try folder.setMode(0o500, of: folder.path)
        let again = try await folder.store()
        #expect(try await again.text(key("ada")) == "s")
        try folder.setMode(0o700, of: folder.path)
    }

    // MARK: - Real file systems

    /// Runs a script of /bin/sh where it may mount things, its folder as $1 and the writer as $2. Root only.
    private func script(_ text: String, _ folder: VaultFolder) async throws -> ProgramRun {
        let writer = try BuiltProducts.program("vault-writer").path
        return try await Program("unshare").run(["--mount", "/bin/sh", "-c", text, "sh", folder.path, writer])
    }

    /// Whether this machine lets nobody mount anything: then the tests above, by a limit on files, are all there is.
    private func mayNotMount(_ run: ProgramRun) -> Bool {
        let isRefused =
            run.status != 0 && run.outputText.isEmpty
            && ["not permitted", "denied"].contains { run.errorText.contains($0) }
        if isRefused { sayOnlyLimits("may mount nothing (\(run.errorText.split(separator: "\n").first ?? ""))") }
        return isRefused
    }

    private func sayOnlyLimits(_ why: String) {
        print("note: DiskTests \(why): full and read-only disks are shown by limits on files and by modes alone")
    }

    @Test func `on a file system that is full a save is refused, and the old content stays`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        guard geteuid() == 0 else { return sayOnlyLimits("runs without privileges") }
        let run = try await script(
            """
            mkdir -m 700 "$1/small" && mount -t tmpfs -o size=96k,mode=700 none "$1/small" || exit 125
            "$2" make "$1/small/vault" "$1/key" - 0 && "$2" save "$1/small/vault" "$1/key" big 200
            status=$?
            "$2" all "$1/small/vault" "$1/key" verify 0 > "$1/verified" || status=1
            cp -p "$1/small/vault" "$1/vault"
            exit $status
            """, folder)
        if mayNotMount(run) { return }
        #expect(run.status == 70 && run.outputText.contains("store.cannot-write"), "\(run.outputText) \(run.errorText)")
        let saved = run.outputText.split(separator: "\n").count { $0.hasPrefix("saved ") }
        #expect(saved > 5 && saved < 200)
        let store = try await folder.store()
        for index in 0..<saved { #expect(try await store.text(key("big/\(index)")) == "big \(index)") }
        let report = try await store.verify()
        #expect(report.problems == [] && report.itemCount == saved)
    }

    @Test func `on a file system that is read-only a vault is read, and a save is refused`() async throws {
        let folder = try VaultFolder()
        try await folder.store().save(secret("old"), for: key("p/0"))
        let before = try folder.contents()
        let work = """
            "$2" all "$1/vault" "$1/key" list 0 && "$2" save "$1/vault" "$1/key" p 1
            """
        let run: ProgramRun
        if geteuid() == 0 {
            run = try await script(
                #"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 125; "# + work, folder)
            if mayNotMount(run) { return }
        } else {
            for (mode, path) in [(0o400, folder.vault), (0o500, folder.path)] { try folder.setMode(mode, of: path) }
            let writer = try BuiltProducts.program("vault-writer").path
            run = try await Program("/bin/sh").run(["-c", work, "sh", folder.path, writer])
            for (mode, path) in [(0o700, folder.path), (0o600, folder.vault)] { try folder.setMode(mode, of: path) }
        }
        #expect(run.outputText.contains("items 1"))
        #expect(run.status == 70 && run.outputText.contains("store.cannot-write"), "\(run.outputText) \(run.errorText)")
        #expect(try folder.contents() == before)
        #expect(try await folder.store().text(key("p/0")) == "old")
    }
}
