internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySecretService
internal import TestServices

/// Reads and listings of large keyrings. libsecret keeps one bus a process, so a second process times the reads.
enum SearchInMany {
    private static let itemCount = 10_000
    /// gnome-keyring's work for a listing grows with the square of this.
    private static let listedCount = 1_000
    private static let mark = "LATCHKEY_BENCHMARK_SEARCH"

    static func run(_ latchkey: Program) async throws {
        if unsafe getenv(mark) != nil { return try await time() }
        try await timeReads()
        try await timeListing(latchkey)
    }

    private static func timeListing(_ latchkey: Program) async throws {
        // secret-tool asks about all items at once.
        let session = try await PrivateSession(
            .unlocked, files: ["login.keyring": Array(keyring(listedCount).utf8)],
            limits: ["max_replies_per_connection": 50_000],
            isSteady: false)
        try await ColdStart(latchkey: latchkey, session: session).compare(
            "Listing of \(listedCount) items of a keyring", limit: nil, runs: 10,
            [
                ("secret-tool search --all, with the secrets", "secret-tool search --all service many"),
                ("latchkey list", "\(latchkey.path) list --store secret-service --timeout 600"),
            ])
    }

    private static func timeReads() async throws {
        // gnome-keyring takes a quarter of a second for a save among so many, so the file is written for it.
        let session = try await PrivateSession(
            .unlocked, files: ["login.keyring": Array(keyring(itemCount).utf8)], isSteady: false)
        let program = try Program("/proc/self/exe")
        var environment = session.environment
        environment[mark] = "1"
        let run = try await program.run(["search"], environment: environment, timeout: .seconds(300))
            .successful("latchkey-benchmarks search")
        print(run.outputText)
    }

    /// A keyring in the form that gnome-keyring writes when it has no password.
    static func keyring(_ count: Int) -> String {
        var text = "[keyring]\ndisplay-name=Login\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
        for number in 1...count {
            text += "\n[\(number)]\nitem-type=0\ndisplay-name=Item \(number)\nsecret=secret\nmtime=1\nctime=1\n"
            for (index, (name, value)) in [("service", "many"), ("username", "user\(number)")].enumerated() {
                text += "\n[\(number):attribute\(index)]\nname=\(name)\ntype=string\nvalue=\(value)\n"
            }
        }
        return text
    }

    private static func time() async throws {
        let store = SecretServiceStore(SecretServiceConfiguration(coordination: nil))
        let key = try CredentialKey(service: "many", account: "user5000")
        let bare = try BareLibsecret(service: "many", account: "user5000")
        Comparison(
            // 0.95 of libsecret's reads per second.
            title: "Warm read from a keyring of \(itemCount) items (limit: 1.05 × libsecret)", limit: 1.05,
            rows: try await Measurement.take(
                rounds: 5, count: 100,
                [
                    ("libsecret, secret_service_lookup_sync", { _ = try bare.read() }),
                    ("SecretServiceStore.read", { try await read(key, store) }),
                ])
        ).show()
        var others = (1...itemCount).makeIterator()
        Comparison(
            title: "First read of an item of that keyring",
            rows: try await Measurement.take(
                rounds: 5, count: 20,
                [
                    ("libsecret, secret_service_lookup_sync", { _ = try bare.read() }),
                    (
                        "SecretServiceStore.read, another one each time",
                        {
                            let other = "user\(others.next() ?? 0)"
                            try await read(CredentialKey(service: "many", account: other), store)
                        }
                    ),
                ])
        ).show()
    }

    private static func read(_ key: CredentialKey, _ store: SecretServiceStore) async throws {
        guard try await store.read(key, as: Password.self) != nil else { throw Missing() }
    }

    private struct Missing: Error {}
}
