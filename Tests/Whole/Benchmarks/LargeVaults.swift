internal import Foundation
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeyVault
internal import TestServices

/// Vaults of a hundred, ten thousand and a million credentials, read at random.
struct LargeVaults {
    let directory: TestDirectory
    private let sizes = [100, 10_000, 1_000_000]

    private func path(_ size: Int) -> String { directory / "large/\(size)" }
    private var keyFile: String { directory / "large.key" }

    private static func key(_ number: Int) throws -> CredentialKey {
        try CredentialKey(service: "example.org", account: "\(number)")
    }

    func run(_ latchkey: Program) async throws {
        try VaultKeyFile.create(at: keyFile)
        for size in sizes { try await make(size) }
        try await warm()
        try await opening()
        try await memory()
        try await cold(latchkey)
    }

    private func make(_ size: Int) async throws {
        let start = ContinuousClock.now
        let store = try await VaultStore.create(at: path(size), unlockedBy: .keyFile(keyFile))
        let secret = try Secret<Password>.random(byteCount: 40)
        for first in stride(from: 0, to: size, by: 20_000) {
            let keys = try (first..<min(size, first + 20_000)).map(Self.key)
            try await store.fill(keys, with: secret, deadline: .after(.seconds(600)))
        }
        print("made a vault of \(size) in \((ContinuousClock.now - start).components.seconds) s")
    }

    /// The same accounts again and again would be in memory; these are drawn from all.
    private func sample(_ size: Int) throws -> [CredentialKey] {
        try (0..<min(size, 20_000)).map { _ in try Self.key(Int.random(in: 0..<size)) }
    }

    /// Beside it, the same rows of the same files through SQLite alone: what the engine and the machine's memory lose
    /// on the way from a hundred to a million, checking nothing and opening nothing.
    private func warm() async throws {
        var reads: [(name: String, run: () async throws -> Void)] = []
        var controls: [(name: String, run: () async throws -> Void)] = []
        for size in sizes {
            let store = try await VaultStore.open(at: path(size), unlockedBy: .keyFile(keyFile))
            let keys = try sample(size)
            var next = 0
            reads.append(
                (
                    "VaultStore.read, one of \(size) at random",
                    {
                        next = (next + 1) % keys.count
                        guard try await store.read(keys[next], as: Password.self) != nil else { throw Missing() }
                    }
                ))
            let bare = try BareVaultRows(path: path(size), sampling: min(size, 20_000))
            controls.append(("bare SQLite, one of \(size) at random", { try bare.readNext() }))
        }
        let measured = try await Measurement.take(count: 2000, reads + controls)
        Comparison(
            title: "Warm reads at random (limit: 1.5 × of a hundred)", limit: 1.5,
            rows: Array(measured.prefix(sizes.count))
        ).show()
        Comparison(
            title: "The same rows of the same files through SQLite alone",
            rows: Array(measured.dropFirst(sizes.count))
        ).show()
    }

    private struct Missing: Error {}

    private func opening() async throws {
        let keyFile = keyFile
        Comparison(
            title: "Opening a vault with a key file, in the process (limit: 3 ms)",
            rows: try await Measurement.take(
                count: 50,
                sizes.map { size in
                    let path = path(size)
                    return (
                        "VaultStore.open of \(size)",
                        { _ = try await VaultStore.open(at: path, unlockedBy: .keyFile(keyFile)) }
                    )
                })
        ).show()
    }

    // MARK: - Memory

    private func memory() async throws {
        print("\nMemory of this process while a vault is listed, at most")
        for size in sizes {
            let store = try await VaultStore.open(at: path(size), unlockedBy: .keyFile(keyFile))
            // Since here (proc(5), clear_refs).
            try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
            let before = try Self.peak()
            var count = 0
            let start = ContinuousClock.now
            for try await _ in store.list(deadline: .after(.seconds(600))) { count += 1 }
            let time = Measurement(name: "", median: ContinuousClock.now - start).microseconds / Double(count)
            guard count == size else { throw Missing() }
            print(
                "  \(size) listed: \(try Self.peak() - before) KiB more than before, \(Int(time * 10) / 10) µs for each"
            )
        }
    }

    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0
    }

    // MARK: - Whole commands

    private func cold(_ latchkey: Program) async throws {
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = keyFile
        let start = ColdStart(latchkey: latchkey, directory: directory, environment: environment)
        let get = sizes.map { size in
            (
                "latchkey get from \(size)",
                "\(latchkey.path) get --store vault --vault \(path(size)) example.org \(size / 2)"
            )
        }
        try await start.compare("Cold reads (limit: 1.5 × of a hundred)", limit: 1.5, get)
        try await start.compare(
            "Beyond the start of the process", limit: nil,
            [("latchkey --version", "\(latchkey.path) --version"), get[0]])
    }
}
