import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyVault

/// Many processes, and vaults of both kinds.
@Suite struct DatabaseProcessTests {
    /// Hosts with a network, a user and a state directory of their own, that reach the database's socket alone.
    @Test func `processes of two hosts that save at once lose nothing`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create()
        let hosts = try (0..<2).map { _ in try TestDirectory() }
        let key = try vault.directory.read("key")
        for (number, host) in hosts.enumerated() {
            let file = try host.write("key", key)
            // The checkout may be out of another user's reach. A child of another test, made while this process writes the
            // copy, would hold the file open, and then nobody can start it.
            try await Program("cp").run([BuiltProducts.program("vault-writer").path, host / "vault-writer"])
                .successful("cp")
            // The second one has a user of its own.
            if getuid() == 0 && number == 1 { _ = unsafe chown(host.path, 65534, 65534) + chown(file, 65534, 65534) }
        }
        var writers: [RunningProgram] = []
        for number in 0..<8 {
            let host = hosts[number % 2]
            let isOther = getuid() == 0 && number % 2 == 1
            var command = [
                host / "vault-writer", "save", vault.uri, host / "key", "\(number)", "500",
            ]
            if isOther {
                // Without any network.
                command = ["unshare", "--net", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
            }
            writers.append(
                try Program("env").start(
                    command, environment: ["PATH": Program.searchPath, "VAULT_MEMORY": host / "state"]))
        }
        for writer in writers {
            let run = try await writer.finish(within: .seconds(300))
            #expect(run.status == 0, "\(run.outputText.suffix(200)) \(run.errorText)")
        }
        let report = try await store.verify()
        #expect(report.problems == [] && report.itemCount == 4000)
    }

    @Test func `a number that processes of two hosts count up by conditions loses no count`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create()
        let writers = try (0..<6).map { _ in
            try BuiltProducts.program("vault-writer").start(["count", vault.uri, vault.keyFile, "number", "50"])
        }
        for writer in writers { try await writer.finish(within: .seconds(300)).successful("count") }
        #expect(
            try await vault.open().text(try CredentialKey(service: "writer", account: "number")) == "300")
    }

    @Test func `a file's vault goes into a database and back, verified`() async throws {
        let vault = try await DatabaseVault()
        let database = try await vault.create()
        let folder = vault.directory.path + "/files"
        try vault.directory.makeFolder("files")
        let file = try await VaultStore.create(at: folder + "/vault", unlockedBy: .keyFile(vault.keyFile))
        for number in 0..<300 { try await file.save(secret("secret \(number)"), for: key("\(number)")) }
        try await file.save(Secret<Password>.random(byteCount: 200_000), for: key("large"))
        #expect(try await database.importAll(from: file, onConflict: .refuse).addedCount == 301)
        #expect(try await database.verify().problems == [])
        let done = try await database.export(to: folder + "/back", unlockedBy: .keyFile(vault.keyFile))
        #expect(done.itemCount == 301 && done.missingCount == 0)
        let back = try await VaultStore.open(at: folder + "/back", unlockedBy: .keyFile(vault.keyFile))
        #expect(try await back.verify().problems == [])
        for number in [0, 150, 299] { #expect(try await back.text(key("\(number)")) == "secret \(number)") }
        // And from one database's vault into another's, by an export.
        let second = try await DatabaseVault()
        let moved = try await database.export(to: second.uri, unlockedBy: .keyFile(second.keyFile))
        #expect(moved.itemCount == 301)
        #expect(try await second.open().verify().problems == [])
    }

    /// 18 kills, 2,001 at night.
    @Test func `processes that are killed while they save leave a whole vault, with all that they said was saved`()
        async throws
    {
        let vault = try await DatabaseVault()
        let store = try await vault.create()
        for round in 0..<(runsLong ? 667 : 6) {
            let writers = try ["save", "churn", "save"].enumerated().map {
                try BuiltProducts.program("vault-writer").start(
                    [$1, vault.uri, vault.keyFile, "\(round)-\($0)", "10000"])
            }
            for writer in writers {
                try await writer.wait(for: "a step") { writer.outputSoFar.contains(/(did|saved) \d/) }
            }
            for (number, writer) in writers.enumerated() {
                try await Task.sleep(for: .microseconds(Int.random(in: 0...40_000)))
                writer.kill()
                let saved = try await writer.finish().outputText.matches(of: /saved \d+\n/).count
                for index in 0..<saved {
                    let name = "\(round)-\(number)"
                    let key = try CredentialKey(service: "writer", account: "\(name)/\(index)")
                    #expect(try await store.text(key) == "\(name) \(index)")
                    try await store.delete(key)
                }
            }
            #expect(try await store.verify().problems == [], "round \(round)")
        }
    }
}
