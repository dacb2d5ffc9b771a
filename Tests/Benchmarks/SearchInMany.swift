internal import Credentials
internal import Glibc
internal import Secrets
internal import SecretService
internal import TestServices

/// A read from a keyring of 10,000 items. libsecret keeps one bus a process, so a second process does the timing.
enum SearchInMany {
    private static let itemCount = 10_000
    private static let mark = "LATCHKEY_BENCHMARK_SEARCH"

    static func run() async throws {
        if unsafe getenv(mark) != nil { return try await time() }
        // gnome-keyring takes a quarter of a second for a save among so many, so the file is written for it.
        let session = try await PrivateSession(.unlocked, files: ["login.keyring": Array(keyring.utf8)])
        let program = try Program("/proc/self/exe")
        var environment = session.environment
        environment[mark] = "1"
        let run = try await program.run(["search"], environment: environment, timeout: .seconds(300))
            .successful("latchkey-benchmarks search")
        print(run.outputText)
    }

    /// A keyring in the form that gnome-keyring writes when it has no password.
    private static var keyring: String {
        var text = "[keyring]\ndisplay-name=Login\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
        for number in 1...itemCount {
            text += "\n[\(number)]\nitem-type=0\ndisplay-name=Item \(number)\nsecret=secret\nmtime=1\nctime=1\n"
            for (index, (name, value)) in [("service", "many"), ("username", "user\(number)")].enumerated() {
                text += "\n[\(number):attribute\(index)]\nname=\(name)\ntype=string\nvalue=\(value)\n"
            }
        }
        return text
    }

    private static func time() async throws {
        #if Desktop
            let store = SecretServiceStore(SecretServiceConfiguration(coordination: nil))
            let key = try CredentialKey(service: "many", account: "user5000")
            let bare = BareLibsecret(service: "many", account: "user5000")
            Comparison(
                title: "Warm read from a keyring of \(itemCount) items",
                rows: try await Measurement.take(
                    rounds: 5, count: 20,
                    [
                        ("libsecret, secret_service_lookup_sync", { _ = try bare.read() }),
                        (
                            "SecretServiceStore.read",
                            {
                                guard try await store.read(key, as: Password.self) != nil else { throw Missing() }
                            }
                        ),
                    ])
            ).show()
        #endif
    }

    private struct Missing: Error {}
}
