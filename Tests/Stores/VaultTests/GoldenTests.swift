import Foundation
import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeySystem
import Testing
import TestServices

@testable import LatchkeyVault

/// Vaults that were written once and are never written again: what is in Fixtures must be read for ever.
///
/// `LATCHKEY_RECORD=1` writes them anew, `LATCHKEY_RECORD=slots` those of the later kinds of slots alone, and
/// `LATCHKEY_RECORD=saves` the one with last saves; each fails the run that does so.
@Suite struct GoldenTests {
    static let folder = TestData.folder().appendingPathComponent("Fixtures")

    /// A vault, what opens it, and what must come of it.
    struct Case: Codable, Sendable, CustomTestStringConvertible {
        struct Item: Codable, Sendable, Equatable {
            let service, account, kind, label, secret: String
            let created, modified: Int64
            let text: Bool
        }
        let name: String
        /// An item that isn't a credential.
        struct Other: Codable, Sendable, Equatable {
            let id, collection, label, contentType, secret: String
            let created, modified: Int64
            let attributes: [String: String]
        }
        struct Collection: Codable, Sendable, Equatable {
            let name, label: String
            let aliases: [String]
            let created, modified: Int64
        }
        /// Some attributes, and the ids of what has them.
        struct Search: Codable, Sendable, Equatable {
            let attributes: [String: String]
            let ids: [String]
        }
        /// What opens it: `key-file`, `passphrase-file`, `systemd-credential` or `kept-key`.
        let source: String
        /// `opens`, or the code of the error that opening or reading throws.
        let outcome: String
        let generation: UInt64?
        let items: [Item]?
        let others: [Other]?
        let collections: [Collection]?
        let searches: [Search]?

        var testDescription: String { "\(name) by \(source)" }
    }

    static let cases: [Case] = {
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("cases.json")),
            let cases = try? JSONDecoder().decode([Case].self, from: data)
        else { return [] }
        return cases
    }()

    /// Copies a case to a private folder, as git keeps no modes.
    private func copy(_ golden: Case) throws -> VaultFolder {
        let folder = try VaultFolder()
        for (name, target) in [(golden.name, folder.vault), ("golden." + golden.source, folder.keyFile)] {
            try folder.replace(
                target, with: [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(name))))
        }
        return folder
    }

    @Test func `golden vaults exist, some to open and some to refuse`() async throws {
        if let asked = ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] {
            switch asked {
            case "1": try await GoldenRecorder.record()
            case "saves": try await GoldenRecorder.recordSaves()
            default: try await GoldenRecorder.recordSlots()
            }
            Issue.record("recorded \(Self.folder.path): run again without LATCHKEY_RECORD")
        }
        #expect(Self.cases.filter { $0.outcome == "opens" }.count >= 2)
        #expect(Self.cases.filter { $0.outcome != "opens" }.count >= 5)
    }

    @Test func `the reader in Python has at most 220 lines`() throws {
        let script = Self.folder.deletingLastPathComponent().appendingPathComponent("read_vault.py")
        let text = try String(contentsOf: script, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // The last line ends with a line break as well.
        #expect(lines.count - 1 <= 220 && lines.allSatisfy { $0.count <= 120 })
    }

    @Test(arguments: cases) func `a golden vault opens or fails as declared`(_ golden: Case) async throws {
        let folder = try copy(golden)
        let before = try folder.contents()
        var opened: VaultStore?
        do throws(StoreError) {
            let store = try await VaultStore.open(at: folder.vault, unlockedBy: try await source(golden, folder))
            var items: [Case.Item] = []
            for entry in try await store.list().all() {
                items.append(try await item(entry.key, store))
            }
            _ = try await store.search(attributes(["service": "example.org"]))
            opened = store
            #expect(golden.outcome == "opens")
            #expect(items.sorted { $0.account < $1.account } == golden.items?.sorted { $0.account < $1.account })
            let report = try await store.verify()
            #expect(report.problems == [])
            #expect(report.generation == golden.generation)
        } catch {
            #expect("\(error.code.name)" == golden.outcome)
        }
        if let opened {
            #expect(try await others(opened) == golden.others)
            #expect(try await collections(opened) == golden.collections)
            for search in golden.searches ?? [] { #expect(try await self.search(search.attributes, opened) == search) }
        }
        #expect(try folder.contents() == before)
    }

    @Test(arguments: cases) func `a reader in Python, written from the format's document alone, agrees`(_ golden: Case)
        async throws
    {
        struct Answer: Decodable {
            let generation: UInt64
            let items: [Case.Item]
            let others: [Case.Other]
            let collections: [Case.Collection]
            let searches: [Case.Search]
        }
        let folder = try copy(golden)
        let script = Self.folder.deletingLastPathComponent().appendingPathComponent("read_vault.py").path
        let searches = try (golden.searches ?? []).map {
            String(decoding: try JSONEncoder().encode($0.attributes), as: UTF8.self)
        }
        // Debian's own Python is the one that has python3-nacl.
        let run = try await Program("/usr/bin/python3").run(
            [script, folder.vault, golden.source, folder.keyFile] + searches)
        guard golden.outcome == "opens" else {
            #expect(run.status == 1)
            #expect(run.errorText.hasPrefix("read_vault: "), "\(run.errorText)")
            return
        }
        try #require(run.status == 0, "\(run.errorText)")
        let answer = try JSONDecoder().decode(Answer.self, from: Data(run.output))
        #expect(answer.generation == golden.generation)
        #expect(
            answer.items.sorted { $0.account < $1.account } == golden.items?.sorted { $0.account < $1.account })
        #expect(answer.others.sorted { $0.id < $1.id } == golden.others)
        #expect(answer.collections == golden.collections)
        #expect(answer.searches == golden.searches)
    }

    private func read(_ path: String) -> [UInt8] {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map { [UInt8]($0) } ?? []
    }

    private func source(_ golden: Case, _ folder: VaultFolder) async throws(StoreError) -> VaultKeySource {
        let bytes = read(folder.keyFile)
        switch golden.source {
        case "key-file": return .keyFile(folder.keyFile)
        case "systemd-credential":
            // The name is the one in the slot.
            let name = try await LockedVault.open(at: folder.vault).slots.compactMap(\.systemCredential).first
            guard let name, (try? folder.replace(folder.path + "/" + name.text, with: bytes)) != nil else {
                throw .timedOut
            }
            return .systemCredential(SystemCredential(name: name, directory: folder.path))
        case "kept-key":
            let slot = try await LockedVault.open(at: folder.vault).slots.first { $0.kind == .secretService }
            guard let slot else { throw .timedOut }
            return .keptKey(Secret(copying: bytes.span), of: slot.reference)
        default: return passphrase(String(decoding: bytes, as: UTF8.self))
        }
    }

    // MARK: - Items

    /// In the order of their ids.
    func others(_ store: VaultStore) async throws -> [Case.Other] {
        let items = store
        var others: [Case.Other] = []
        for item in try await items.search(ItemAttributes())
        where !item.isNamed {
            others.append(
                Case.Other(
                    id: item.id.element, collection: item.collection, label: item.label,
                    contentType: item.contentType,
                    secret: Hexadecimal.encode(try #require(try await items.exposed(item.id)).bytes),
                    created: item.created.seconds, modified: item.modified.seconds, attributes: item.attributes.named))
        }
        return others.sorted { $0.id < $1.id }
    }

    func collections(_ store: VaultStore) async throws -> [Case.Collection] {
        try await store.collections(deadline: .standard).map {
            Case.Collection(
                name: $0.name, label: $0.label, aliases: $0.aliases, created: $0.created.seconds,
                modified: $0.modified.seconds)
        }
    }

    func search(_ named: [String: String], _ store: VaultStore) async throws -> Case.Search {
        let wanted = try #require(
            ItemAttributes(named.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) }))
        return Case.Search(
            attributes: named, ids: try await store.search(wanted).map(\.id.element).sorted())
    }

    func item(_ key: CredentialKey, _ store: VaultStore) async throws(StoreError) -> Case.Item {
        guard let record = try await store.read(key, as: Password.self) else { throw .timedOut }
        let metadata = record.metadata
        let isText = record.contentType == .text
        let digits = record.secret.withExposedBytes { bytes in
            var copy: [UInt8] = []
            for index in bytes.indices { copy.append(bytes[index]) }
            return Hexadecimal.encode(copy)
        }
        return Case.Item(
            service: key.service, account: key.account, kind: key.kind.name, label: metadata.label, secret: digits,
            created: metadata.created.seconds, modified: metadata.modified.seconds, text: isText)
    }
}

extension ItemAttributes {
    fileprivate var named: [String: String] {
        Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0.value) })
    }
}
