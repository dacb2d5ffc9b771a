internal import Foundation
internal import TestServices

/// Whole commands of others that keep secrets without a desktop, beside ours. Those that aren't installed are left out.
///
/// Each reads one of a hundred secrets, and saves one. None asks for anything: gpg's key has no passphrase, and what
/// needs a password gets it in the open.
struct PasswordManagers {
    let latchkey: Program
    let directory: TestDirectory
    private let count = 100

    private var environment: [String: String] {
        get throws {
            var variables = try directory.environment()
            variables["GNUPGHOME"] = directory / "gnupg"
            variables["PASSWORD_STORE_DIR"] = directory / "store"
            variables["LATCHKEY_STORE"] = "vault"
            variables["LATCHKEY_KEY_FILE"] = directory / "key"
            // libsecret's own file instead of the service; its documented variables are those of its tests.
            variables["SECRET_BACKEND"] = "file"
            variables["SECRET_FILE_TEST_PATH"] = directory / "secret-tool.keyring"
            variables["SECRET_FILE_TEST_PASSWORD"] = "bench"
            return variables
        }
    }

    private static let cryptfile = """
        import sys
        from keyrings.cryptfile.cryptfile import CryptFileKeyring
        keyring = CryptFileKeyring()
        keyring.keyring_key = "bench"
        if sys.argv[1] == "set":
            for account in sys.argv[2:]: keyring.set_password("bench", account, "secret")
        else:
            sys.stdout.write(keyring.get_password("bench", sys.argv[2]))
        """

    func run() async throws {
        let environment = try environment
        let plain = try directory.write("plain", "secret")
        func make(_ name: String, _ arguments: [String]) async throws {
            try await Program(name).run(arguments, environment: environment, input: Array("secret".utf8))
                .successful(name)
        }
        try directory.makeFolder("gnupg")
        try await make(
            "gpg",
            ["--batch", "--passphrase", "", "--quick-gen-key", "bench@example.test", "default", "default", "never"])
        try await make(latchkey.path, ["vault", "init", "--key-file", directory / "key"])
        for number in 0..<count { try await make(latchkey.path, ["set", "bench", "\(number)"]) }
        var reads = [("latchkey get, vault", "\(latchkey.path) get bench 50")]
        var saves = [("latchkey set, vault, synced", "\(latchkey.path) set bench 50")]

        try await make(
            "gpg", ["--batch", "-q", "-o", directory / "plain.gpg", "-r", "bench@example.test", "-e", plain])
        reads.append(("gpg -d, a file for each", "gpg --batch -q -d \(directory / "plain.gpg")"))
        saves.append(
            ("gpg -e, a file for each", "gpg --batch -q --yes -o \(directory / "out.gpg") -r bench@example.test -e"))

        if let age = try? Program("age") {
            try await make("age-keygen", ["-o", directory / "age.key"])
            let recipient = try await Program("age-keygen").run(
                ["-y", directory / "age.key"], environment: environment
            )
            .outputText.trimmingCharacters(in: .whitespacesAndNewlines)
            try await make("age", ["-r", recipient, "-o", directory / "plain.age", plain])
            reads.append(
                ("age -d, a file for each", "\(age.path) -d -i \(directory / "age.key") \(directory / "plain.age")"))
            saves.append(("age -e, a file for each", "\(age.path) -r \(recipient) -o \(directory / "out.age")"))
        }
        if let pass = try? Program("pass") {
            try await make("pass", ["init", "bench@example.test"])
            for number in 0..<count { try await make("pass", ["insert", "-m", "-f", "bench/\(number)"]) }
            reads.append(("pass show", "\(pass.path) show bench/50"))
            saves.append(("pass insert", "\(pass.path) insert -m -f bench/50"))
            // It reads pass's store. To save, it only asks on a terminal.
            if let gopass = try? Program("gopass") { reads.append(("gopass show", "\(gopass.path) show bench/50")) }
        }
        if let tool = try? Program("secret-tool") {
            for number in 0..<count {
                try await make("secret-tool", ["store", "--label=bench", "service", "bench", "username", "\(number)"])
            }
            let attributes = "service bench username 50"
            reads.append(("secret-tool lookup, file", "\(tool.path) lookup \(attributes)"))
            saves.append(("secret-tool store, file", "\(tool.path) store --label=bench \(attributes)"))
        }
        if let python = ProcessInfo.processInfo.environment["LATCHKEY_BENCHMARK_PYTHON"] {
            let script = try directory.write("cryptfile.py", Self.cryptfile)
            try await make(python, [script, "set"] + (0..<count).map(String.init))
            reads.append(("Python keyrings.cryptfile, get", "\(python) \(script) get 50"))
            saves.append(("Python keyrings.cryptfile, set", "\(python) \(script) set 50"))
        }
        let start = ColdStart(latchkey: latchkey, directory: directory, environment: environment)
        try await start.compare("Reading one of \(count) secrets", limit: nil, runs: 30, reads)
        try await start.compare("Saving one", limit: nil, runs: 30, input: plain, saves)
        _ = try await Program("gpgconf").run(["--kill", "all"], environment: environment)
    }
}
