import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Files that a killed process left half made.
@Suite struct TemporaryFileTests {
    private func start(_ folder: VaultFolder, _ name: String) throws -> RunningProgram {
        try BuiltProducts.program("vault-writer").start(
            ["export", folder.vault, folder.keyFile, name, "100000"], environment: [:], folder: folder.path)
    }

    private func temporaryFiles(_ folder: VaultFolder) -> [String] { folder.names.filter(TemporaryFile.isTemporary) }

    @Test func `the next export removes the leftovers of a killed one, but not a running one's`()
        async throws
    {
        let folder = try VaultFolder()
        let store = try await folder.store()
        try await store.save(secret("s"), for: key("ada"))
        let large = String(repeating: "x", count: 1 << 20)
        for index in 0..<12 { try await store.save(secret(large), for: key("\(index)")) }
        // Stopped in the middle of an export, as slow as can be; the other one is killed there.
        let running = try await caught(folder, "running", besides: [])
        let temporaryFile = try #require(temporaryFiles(folder).first)
        let killed = try await caught(folder, "killed", besides: [temporaryFile])
        killed.kill()
        _ = try await killed.finish()
        #expect(temporaryFiles(folder).count == 2)
        let export = try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        #expect(export.itemCount == 13)
        #expect(temporaryFiles(folder) == [temporaryFile])
        running.signal(SIGCONT)
        while running.isRunning && !running.outputSoFar.contains("exported 0") {
            try await Task.sleep(for: .milliseconds(2))
        }
        running.kill()
        _ = try await running.finish()
        let copy = try await VaultStore.open(
            at: folder.vault + "-running-0", unlockedBy: .keyFile(folder.keyFile))
        #expect(try await copy.verify().problems == [])
        #expect(try await copy.text(key("ada")) == "s")
    }

    /// An export that is stopped while its temporary file is there and written to.
    private func caught(
        _ folder: VaultFolder, _ name: String, besides known: [String]
    ) async throws -> RunningProgram {
        func isThere() -> Bool {
            temporaryFiles(folder).contains { temporaryFile in
                !known.contains(temporaryFile)
                    && (try? folder.contents(folder.path + "/" + temporaryFile).isEmpty) == false
            }
        }
        while true {
            let program = try start(folder, name)
            while !isThere() && program.isRunning { await Task.yield() }
            try #require(program.isRunning)
            program.signal(SIGSTOP)
            if isThere() { return program }
            // It was done already.
            program.kill()
            _ = try await program.finish()
            for file in folder.names where file.hasPrefix("vault-\(name)-") {
                try FileManager.default.removeItem(atPath: folder.path + "/" + file)
            }
        }
    }

    @Test func `of files with a temporary name only unfinished vaults are removed`() async throws {
        let folder = try VaultFolder()
        let store = try await folder.store()
        let digits = "0123456789abcdef"
        let kept = [
            "notes.new-\(digits)", "x.new-\(digits.dropLast())", "x.new-\(digits.uppercased())", "x.new-\(digits)0",
        ]
        for name in kept { try folder.replace(folder.path + "/" + name, with: Array("SQLite, no vault".utf8)) }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.new-\(digits)", withDestinationPath: folder.keyFile)
        let gone = ["empty", "zeros", "vault"].map { "\($0).new-\(digits)" }
        let contents = [[], [UInt8](repeating: 0, count: 8192), try folder.contents()]
        for (name, bytes) in zip(gone, contents) { try folder.replace(folder.path + "/" + name, with: bytes) }
        _ = try await store.export(to: folder.path + "/export", unlockedBy: .keyFile(folder.keyFile))
        #expect(Set(kept + ["link.new-\(digits)"]).isSubset(of: folder.names))
        #expect(Set(gone).isDisjoint(with: folder.names))
    }

    @Test func `a vault can't have a temporary file's name`() async throws {
        let folder = try VaultFolder()
        try VaultKeyFile.create(at: folder.keyFile)
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.create(
                at: folder.vault + ".new-0123456789abcdef", unlockedBy: .keyFile(folder.keyFile))
        }
        #expect(error?.code == .permissionDenied)
        #expect(folder.names == ["key"])
    }
}
