import Credentials
import Foundation
import TestServices
import Testing

@testable import Vault

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

    @Test func `a vault is not made where there is no room, and nothing is left over`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let run = try await run("make", folder, kibibytes: 4)
        #expect(run.status == 70)
        #expect(run.outputText.contains("store.cannot-write"), "\(run.outputText.suffix(300))")
        #expect(folder.names == ["key"])
    }

    @Test func `a vault in a directory without write permission can be read by its owner`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("s"), for: key("ada"))
        try folder.setMode(0o500, of: folder.path)
        let again = try await folder.store()
        #expect(try await again.text(key("ada")) == "s")
        try folder.setMode(0o700, of: folder.path)
    }
}
