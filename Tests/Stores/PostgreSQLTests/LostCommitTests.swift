import Foundation
import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// A save whose COMMIT gets no response while the database crashes or fails over, and another client commits first.
///
/// `pg_xact_status` said "committed", because the other client had the same transaction number.
@Suite struct LostCommitTests {
    /// What happens to the COMMIT, and to the database.
    enum Fault: CaseIterable, CustomTestStringConvertible {
        /// The COMMIT doesn't reach the database, which crashes.
        case crashBefore
        /// The database commits, and crashes before its response arrives.
        case crashAfter
        /// The database commits. An asynchronous standby that hasn't heard of it is promoted.
        case promotion
        /// The connection is lost, and the database goes on.
        case disconnection

        var testDescription: String { "\(self)" }
    }

    /// What another client does before the first one asks.
    enum Other: CaseIterable { case nothing, savesAnotherItem, savesTheSameItem }

    private func commitIsLost(_ fault: Fault, _ other: Other, replacing: Bool) async throws {
        let primary = try await PostgreSQLServer()
        let standby = fault == .promotion ? try await PostgreSQLServer(following: primary, name: "standby") : nil
        var vault = try await DatabaseVault(on: primary)
        try await vault.create(2)
        let signal = vault.directory / "signal"
        let mode = fault == .crashBefore || fault == .disconnection ? "hold" : "answer"
        let proxy = try await HostileServer(mode, before: primary, signal)
        let direct = vault.uri
        let servers = standby.map { "127.0.0.1:\(proxy.port),127.0.0.1:\($0.port)" } ?? "127.0.0.1:\(proxy.port)"
        vault.uri = "postgresql://\(PostgreSQLServer.superuser)@\(servers)/secrets?schema=\(vault.schema.name)"
        let first = try await vault.open()
        if let standby {
            // All but the save is there.
            let position = try await primary.sql("SELECT pg_current_wal_lsn()").trimmingCharacters(in: .newlines)
            while try await standby.sql("SELECT pg_last_wal_replay_lsn() >= '\(position)'") != "t\n" {
                try await Task.sleep(for: .milliseconds(20))
            }
            try await standby.kill()
        }
        try vault.directory.write("signal.armed", "")
        let name = replacing ? "0" : "new"
        let saving = Task {
            await refusal { () async throws(StoreError) in
                try await first.save(
                    secret("mine"), for: key(name), options: SaveOptions(), deadline: .after(.seconds(60)))
            }
        }
        try await proxy.waitUntilShown("held")
        if fault != .disconnection { try await primary.kill() }
        if let standby {
            try await standby.start()
            try await standby.promote()
        } else if fault != .disconnection {
            try await primary.start()
        }
        if fault == .disconnection {
            // Its transaction has the lock until its connection ends.
            try vault.directory.write("signal.go", "")
        }
        let uri = standby.map { $0.vault(vault.schema.name) } ?? direct
        let second = try await VaultStore.open(at: uri, unlockedBy: .keyFile(vault.keyFile))
        switch other {
        case .nothing: break
        case .savesAnotherItem: try await second.save(secret("other"), for: key("1"))
        case .savesTheSameItem: try await second.save(secret("other"), for: key(name))
        }
        try vault.directory.write("signal.go", "")
        let error = await saving.value
        let text = try await VaultStore.open(at: uri, unlockedBy: .keyFile(vault.keyFile)).text(key(name))
        let comment: Comment = "\(fault) \(other) \(replacing): \(String(describing: error)), \(text ?? "nothing")"
        if let error {
            // Not to know is no lie; to say no would be one where the save is there.
            #expect(error.code == .timedOut && "\(error)".contains("may be stored or not"), comment)
            // What was overwritten by others can't be known, nor whether an item that isn't there was deleted.
            #expect(other == .savesTheSameItem || !replacing, comment)
        } else if other != .savesTheSameItem {
            #expect(text == "mine", comment)
        }
        #expect(try await second.verify().problems == [], comment)
    }

    @Test(arguments: Fault.allCases, [false, true])
    func `a save is never acknowledged and lost, nor denied and stored`(_ fault: Fault, replacing: Bool) async throws {
        for other in Other.allCases { try await commitIsLost(fault, other, replacing: replacing) }
    }
}
