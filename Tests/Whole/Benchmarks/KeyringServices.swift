internal import Foundation
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeyVault
internal import TestServices

/// The served keyring beside gnome-keyring, for a client that speaks to both through libsecret.
///
/// libsecret keeps one bus a process, so each round of each service is a process of its own, which times itself.
enum KeyringServices {
    private static let mark = "LATCHKEY_BENCHMARK_CLIENT"
    private static let rounds = 7

    static func run(_ latchkey: Program) async throws {
        if let client = unsafe getenv(mark) { return try await time(count: Int(unsafe String(cString: client)) ?? 1) }
        for count in [10, 10_000] { try await compare(count, latchkey) }
    }

    // MARK: - The services

    private static func compare(_ count: Int, _ latchkey: Program) async throws {
        let gnome = try await PrivateSession(
            .unlocked, files: ["login.keyring": Array(SearchInMany.keyring(count).utf8)], isSteady: false)
        let ours = try await PrivateSession(.none)
        var environment = ours.environment
        environment["LATCHKEY_KEY_FILE"] = ours.directory / "key"
        try VaultKeyFile.create(at: ours.directory / "key")
        try await fill(ours.directory / "vault", ours.directory / "key", count)
        let start = ContinuousClock.now
        let service = try latchkey.start(
            ["keyring", "serve", "--vault", ours.directory / "vault"], environment: environment)
        service.closeInput()
        while !service.errorsSoFar.contains("serving") {
            guard ContinuousClock.now - start < .seconds(60) else { throw Missing() }
            try await Task.sleep(for: .milliseconds(1))
        }
        let taken = (ContinuousClock.now - start).components
        print(
            "\nserving \(count) items \(taken.seconds * 1000 + taken.attoseconds / 1_000_000_000_000_000) ms after the start"
        )

        var names: [String] = []
        var times: [String: (gnome: [Double], ours: [Double])] = [:]
        for _ in 0..<rounds {
            for isOurs in [false, true] {
                for (name, time) in try await client(isOurs ? ours : gnome, count) {
                    if times[name] == nil { names.append(name) }
                    if isOurs {
                        times[name, default: ([], [])].ours.append(time)
                    } else {
                        times[name, default: ([], [])].gnome.append(time)
                    }
                }
            }
        }
        for name in names {
            guard let both = times[name] else { continue }
            let (theirs, own) = (both.gnome.sorted()[rounds / 2], both.ours.sorted()[rounds / 2])
            print(
                "  \(name), \(count) items: gnome-keyring \(Int(theirs)) µs, latchkey \(Int(own)) µs: \(String(format: "%.2f", own / theirs)) ×"
            )
        }
        let status = try String(contentsOfFile: "/proc/\(service.pid)/status", encoding: .utf8)
        let memory = status.split(separator: "\n").filter { $0.hasPrefix("VmHWM") || $0.hasPrefix("RssAnon") }
        print("  latchkey: \(memory.joined(separator: ", "))")
    }

    static func fill(_ path: String, _ keyFile: String, _ count: Int) async throws {
        let store = try await VaultStore.create(at: path, unlockedBy: .keyFile(keyFile))
        let secret = try Secret<Password>.random(byteCount: 6)
        let keys = try (1...count).map { try CredentialKey(service: "many", account: "user\($0)") }
        for start in stride(from: 0, to: count, by: 2_000) {
            let part = Array(keys[start..<min(count, start + 2_000)])
            try await store.fill(part, with: secret, deadline: .after(.seconds(600)))
        }
    }

    static func client(_ session: PrivateSession, _ count: Int) async throws -> [(String, Double)] {
        var environment = session.environment
        environment[mark] = String(count)
        let run = try await Program("/proc/self/exe").run(
            ["services"], environment: environment, timeout: .seconds(600)
        ).successful("latchkey-benchmarks services")
        return run.outputText.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "=")
            return parts.count == 2 ? (String(parts[0]), Double(parts[1]) ?? 0) : nil
        }
    }

    // MARK: - The client

    private static func time(count: Int) async throws {
        let item = try BareLibsecret(service: "many", account: "user\(count / 2)")
        let absent = try BareLibsecret(service: "many", account: "nobody")
        let saved = try BareLibsecret(service: "saved", account: "again")
        _ = try item.read()
        try saved.save("first")
        func show(_ name: String, _ times: Int, _ body: () throws -> Void) rethrows {
            let start = ContinuousClock.now
            for _ in 0..<times { try body() }
            let each = start.duration(to: .now) / times
            print("\(name)=\(Double(each.components.attoseconds) / 1e12 + Double(each.components.seconds) * 1e6)")
        }
        try show("lookup", 50) { _ = try item.read() }
        show("search that finds nothing", 50) { _ = try? absent.read() }
        try show("store over another one", count > 1_000 ? 5 : 20) { try saved.save("second") }
    }

    private struct Missing: Error {}
}
