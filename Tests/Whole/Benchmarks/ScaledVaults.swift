internal import Foundation
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeyVault
internal import TestServices

/// What grows with a vault: each operation with a thousand to a million items, its memory, and the file.
struct ScaledVaults {
    private let directory: TestDirectory
    private let latchkey: Program
    private let sizes = [1_000, 10_000, 100_000, 1_000_000]
    private var keyFile: String { directory / "key" }

    private func path(_ size: Int) -> String { directory / "vaults/\(size)" }

    static func run(_ latchkey: Program) async throws {
        let group = ScaledVaults(directory: try TestDirectory(inMemory: true), latchkey: latchkey)
        try VaultKeyFile.create(at: group.keyFile)
        for size in group.sizes { try await group.make(size) }
        try await group.single()
        for size in group.sizes { try await group.whole(size) }
        for size in group.sizes { try await group.served(size) }
    }

    private func make(_ size: Int) async throws {
        let start = ContinuousClock.now
        try await KeyringServices.fill(path(size), keyFile, size)
        let bytes = try FileManager.default.attributesOfItem(atPath: path(size))[.size] as? Int ?? 0
        print(
            """
            \(size) items: made in \(Self.seconds(.now - start)) s; the file has \(bytes >> 10) KiB, \(bytes / size) \
            bytes an item
            """)
    }

    // MARK: - Work on one item

    private func single() async throws {
        var opens: [(name: String, run: () async throws -> Void)] = []
        var reads: [(name: String, run: () async throws -> Void)] = []
        var searches: [(name: String, run: () async throws -> Void)] = []
        var saves: [(name: String, run: () async throws -> Void)] = []
        let secret = try Secret<Password>.random(byteCount: 6)
        for size in sizes {
            let (path, keyFile) = (path(size), keyFile)
            opens.append(("\(size) items", { _ = try await VaultStore.open(at: path, unlockedBy: .keyFile(keyFile)) }))
            let store = try await VaultStore.open(at: path, unlockedBy: .keyFile(keyFile))
            func account() -> String { "user\(Int.random(in: 1...size))" }
            func key() throws -> CredentialKey { try CredentialKey(service: "many", account: account()) }
            reads.append(
                (
                    "\(size) items",
                    { guard try await store.read(key(), as: Password.self) != nil else { throw Missing() } }
                ))
            searches.append(
                (
                    "\(size) items",
                    {
                        let name = ItemAttributes(ofOthers: ["username": account()])
                        let found = try await store.search(name, in: nil, deadline: .standard)
                        guard found.count == 1 else { throw Missing() }
                    }
                ))
            saves.append(("\(size) items", { try await store.save(secret, for: key()) }))
        }
        for (title, count, operations) in [
            ("Open with a key file", 10, opens), ("Get one at random", 1000, reads),
            ("Search for one attribute that one item has", 300, searches), ("Save over one at random", 20, saves),
        ] {
            Comparison(title: title, rows: try await Measurement.take(rounds: 7, count: count, operations)).show()
        }
    }

    // MARK: - Work on all items

    private func whole(_ size: Int) async throws {
        print("\nAll of \(size) items, once each")
        let store = try await VaultStore.open(at: path(size), unlockedBy: .keyFile(keyFile))
        try await time("list", size) {
            var count = 0
            for try await _ in store.list(deadline: .after(.seconds(600))) { count += 1 }
            guard count == size else { throw Missing() }
        }
        try await time("search for an attribute that all have", size) {
            let all = ItemAttributes(ofOthers: ["service": "many"])
            guard try await store.search(all, in: nil, deadline: .after(.seconds(600))).count == size else {
                throw Missing()
            }
        }
        try await time("verify", size) {
            guard try await store.verify(deadline: .after(.seconds(900))).isSound else { throw Missing() }
        }
        try await time("rekey", size) {
            guard try await store.rekey(deadline: .after(.seconds(1800))) == size else { throw Missing() }
        }
    }

    private func time(_ name: String, _ size: Int, _ work: () async throws -> Void) async throws {
        // The peak since here (proc(5), clear_refs).
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let before = try LargeVaults.peak()
        let start = ContinuousClock.now
        try await work()
        let taken = ContinuousClock.now - start
        print(
            """
              \(name): \(Self.seconds(taken)) s, \(Self.number(taken / .microseconds(1) / Double(size))) µs an item, \
            \((try LargeVaults.peak() - before) >> 10) MiB more than before
            """)
    }

    // MARK: - The served keyring

    private func served(_ size: Int) async throws {
        let session = try await PrivateSession(.none)
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = keyFile
        let start = ContinuousClock.now
        let service = try latchkey.start(["keyring", "serve", "--vault", path(size)], environment: environment)
        service.closeInput()
        try await service.wait(for: "the served keyring") { service.errorsSoFar.contains("serving") }
        print("\nServed from a vault of \(size) items, \(Self.seconds(.now - start)) s after the start")
        for (name, time) in try await KeyringServices.client(session, size) {
            print("  \(name): \(Self.number(time)) µs")
        }
        let status = try String(contentsOfFile: "/proc/\(service.pid)/status", encoding: .utf8)
        let memory = status.split(separator: "\n").filter { $0.hasPrefix("VmHWM") || $0.hasPrefix("RssAnon") }
        print("  \(memory.joined(separator: ", "))")
    }

    // MARK: - Parts

    private static func seconds(_ time: Duration) -> String { number(time / .seconds(1)) }

    private static func number(_ value: Double) -> String { String(format: "%.2f", value) }

    private struct Missing: Error {}
}
