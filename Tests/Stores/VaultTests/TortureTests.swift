import Foundation
import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyVault

/// Four processes at one vault, each killed at a random moment, again and again: 48 kills, 2,000 at night.
@Suite struct TortureTests {
    private static let kept = 400
    private static let roundsPerVault = runsLong ? 25 : 12

    /// A process and what it said it had done.
    private final class Victim {
        let mode: String
        let name: String
        private let process: RunningProgram
        /// How many steps it had said to be done.
        private(set) var steps = 0

        init(_ mode: String, _ folder: VaultFolder, name: String) throws {
            self.mode = mode
            self.name = name
            process = try BuiltProducts.program("vault-writer").start(
                [mode, folder.vault, folder.keyFile, name, "100000"],
                environment: ["VAULT_MEMORY": folder.path + "/memory"], folder: folder.path)
        }

        func begins(with line: String) async throws {
            try await process.wait(for: line) { process.outputSoFar.contains(line) }
        }

        func kill() async throws {
            process.kill()
            let run = try await process.finish()
            // Nothing but the kill ended it.
            #expect(run.status == 137, "\(name): \(run.outputText.suffix(300))")
            steps = run.outputText.split(separator: "\n").count { $0.last?.isNumber == true }
        }

        func key(_ index: Int) throws -> CredentialKey {
            try CredentialKey(service: "writer", account: "\(name)/\(index)")
        }
    }

    @Test func `kills at random moments of all kinds of changes lose nothing that was committed`() async throws {
        var generator = SystemRandomNumberGenerator()
        var steps: [String: Int] = [:]
        for vault in 0..<(runsLong ? 20 : 1) {
            // Every other one on the disk, where syncing makes other moments long.
            let folder = try VaultFolder(inMemory: vault % 2 == 0)
            try await folder.store()
            try await folder.fill(0..<Self.kept)
            for round in 0..<Self.roundsPerVault {
                let victims = try [
                    "save", ["churn", "items"][round % 2], "rekey", ["slots", "export", "rekey"][round % 3],
                ].enumerated()
                    .map { try Victim($1, folder, name: "\($1)\(round)\($0 == 3 ? "b" : "a")") }
                for victim in victims { try await victim.begins(with: round == 0 ? " 0" : "open") }
                for victim in victims.shuffled(using: &generator) {
                    // One after the other: the others find what each leaves behind.
                    // Later rounds are longer: one step of a slot's change is slower than most.
                    let pause = 0...(40_000 + round * 4_000)
                    try await Task.sleep(for: .microseconds(Int.random(in: pause, using: &generator)))
                    try await victim.kill()
                    let kept = key("\(Int.random(in: 0..<Self.kept, using: &generator))")
                    #expect(try await isThere(kept, folder), "\(kept.account)")
                }
                let store = try await folder.store()
                for victim in victims {
                    try await check(victim, store, folder)
                    steps[victim.mode, default: 0] += victim.steps
                }
                // Nor does what they remembered of the vault make it look rolled back.
                let again = try await VaultStore.open(
                    at: folder.vault, unlockedBy: .keyFile(folder.keyFile),
                    memory: RollbackMemory(directory: folder.path + "/memory"))
                #expect(try await again.verify().problems == [], "round \(round)")
            }
            let store = try await folder.store()
            for index in 0..<Self.kept { #expect(try await store.read(key("\(index)"), as: Password.self) != nil) }
            _ = try await store.rekey()
            #expect(try await folder.store().verify().problems == [])
        }
        print("torture, steps between kills: \(steps)")
        #expect(["save", "churn", "items", "slots"].allSatisfy { steps[$0] ?? 0 > 0 }, "\(steps)")
    }

    /// Opened anew, as two rekeyers may be farther than a store that is open can follow. Where its slot is replaced and
    /// the vault rekeyed before it has read, what opened it opens it no longer; the next one has the same key. A test that
    /// gets no time between the two may be left behind all the same.
    private func isThere(_ key: CredentialKey, _ folder: VaultFolder) async throws -> Bool {
        while true {
            let store = try await folder.store()
            do throws(StoreError) {
                return try await store.read(key, as: Password.self) != nil
            } catch {
                guard error.code == .wrongKey || error.code == .rolledBack else { throw error }
            }
        }
    }

    /// What it had said to be done is there; one more step may be.
    private func check(_ victim: Victim, _ store: VaultStore, _ folder: VaultFolder) async throws {
        switch victim.mode {
        case "save":
            for index in 0..<victim.steps {
                #expect(try await store.text(victim.key(index)) == "\(victim.name) \(index)")
            }
            #expect(try await store.text(victim.key(victim.steps + 1)) == nil)
        case "churn":
            var found: [String?] = []
            for index in 0..<7 { found.append(try await store.text(victim.key(index))) }
            let (before, after) = (Self.churned(victim.steps), Self.churned(victim.steps + 1))
            #expect(found == before || found == after, "after \(victim.steps) steps")
        case "items":
            var found: [String?] = []
            let items = store
            for number in 0..<7 {
                let wanted = attributes(["prefix": victim.name, "number": "\(number)"])
                let all = try await items.search(wanted)
                #expect(all.count <= 1)
                found.append(all.isEmpty ? nil : try await items.text(all[0].id))
            }
            let possible = [victim.steps, victim.steps + 1].map { steps in
                Self.churned(steps).map { $0.map { String($0.prefix { $0 != "-" }) } }
            }
            #expect(possible.contains(found), "after \(victim.steps) steps")
        case "slots":
            let names = try await store.slots().map(\.name.text)
            let added = names.count { $0 == victim.name }
            #expect(names.count == added + 1)
            #expect(added == 1 || (added == 0 && victim.steps == 0))
            #expect(try await folder.store().text(key("missing")) == nil)
            if let name = KeySlotName(victim.name) { try await store.removeSlot(name) }
        case "export":
            for index in 0..<victim.steps { #expect(folder.names.contains("vault-\(victim.name)-\(index)")) }
            for name in folder.names where name.hasPrefix("vault-export") {
                defer { try? FileManager.default.removeItem(atPath: folder.path + "/" + name) }
                // What a killed export leaves under another name is sealed, and no export.
                if name.contains(".new-") || name.hasSuffix("-journal") { continue }
                let export = try await VaultStore.open(
                    at: folder.path + "/" + name, unlockedBy: .keyFile(folder.keyFile))
                let report = try await export.verify()
                #expect(report.problems == [] && report.itemCount >= Self.kept)
            }
        default: break
        }
    }

    /// The texts of a churn's seven keys after so many steps.
    private static func churned(_ steps: Int) -> [String?] {
        var texts = [String?](repeating: nil, count: 7)
        for index in 0..<steps {
            let padding = String(repeating: "-", count: index * 97 % 6000)
            texts[index % 7] = index % 3 == 2 ? nil : "\(index)\(padding)"
        }
        return texts
    }
}
