internal import Foundation
internal import TestServices

/// Whole commands, from the start of the process to its end, timed by hyperfine(1) in one run.
struct ColdStart {
    let latchkey: Program
    let directory: TestDirectory
    let environment: [String: String]

    init(latchkey: Program, directory: TestDirectory, environment: [String: String]) {
        self.latchkey = latchkey
        self.directory = directory
        self.environment = environment
    }

    init(latchkey: Program, session: PrivateSession) {
        var variables = session.environment
        variables["GNUPGHOME"] = session.directory / "gnupg"
        variables["LATCHKEY_KEY_FILE"] = session.directory / "key"
        self.init(latchkey: latchkey, directory: session.directory, environment: variables)
    }

    /// The program as a package installs it: stripped, and copied. What a linker has written is in single pages of the
    /// system's memory, and starts up to a sixth slower.
    static func installed(_ latchkey: Program, _ session: PrivateSession) async throws -> Program {
        let stripped = session.directory / "stripped"
        try session.directory.makeFolder("bin")
        try await Program("strip").run(["-o", stripped, latchkey.path]).successful("strip")
        try await Program("cp").run([stripped, session.directory / "bin/latchkey"]).successful("cp")
        return try Program(session.directory / "bin/latchkey")
    }

    /// Shows the median time of each command and its ratio to the first. The commands take turns, ten runs at a time,
    /// so that what else the machine does meets them alike.
    ///
    /// - Parameters:
    ///   - input: a file that each run gets as its standard input.
    ///   - pause: seconds before each run.
    func compare(
        _ title: String, limit: Double?, runs: Int = 200, input: String? = nil, pause: Double? = nil,
        _ commands: [(name: String, line: String)]
    ) async throws {
        let report = directory / "hyperfine.json"
        let turn = 10
        var arguments = ["-N", "--warmup", "1", "--runs", "\(turn)", "--style", "none", "--export-json", report]
        if let pause { arguments += ["--prepare", "sleep \(pause)"] }
        for command in commands {
            // Debian's hyperfine has no --input, so a shell opens it; that costs each command the same.
            let line = input.map { "/bin/sh -c 'exec \(command.line) < \($0)'" } ?? command.line
            arguments += ["-n", command.name, line]
        }
        var times = commands.map { _ in [Double]() }
        for _ in 0..<runs / turn {
            try await Program("hyperfine").run(arguments, environment: environment, timeout: .seconds(900))
                .successful("hyperfine")
            let taken = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: report)))
            for (index, result) in taken.results.enumerated() { times[index] += result.times }
        }
        Comparison(
            title: title, limit: limit,
            rows: zip(commands, times).map {
                Measurement(name: $0.name, median: .seconds($1.sorted()[$1.count / 2]))
            }
        ).show()
    }

    /// Shows how many instructions each command takes from start to end, as valgrind counts them: on a busy machine they
    /// are the same.
    func countInstructions(_ title: String, _ commands: [(name: String, arguments: [String])]) async throws {
        // valgrind doesn't read what lld writes for debuggers.
        let program = directory / "counted"
        try await Program("strip").run(["-o", program, latchkey.path]).successful("strip")
        print("\n\(title)")
        for command in commands {
            let run = try await Program("valgrind").run(
                ["--tool=callgrind", "--callgrind-out-file=/dev/null", program] + command.arguments,
                environment: environment, timeout: .seconds(120))
            let count = run.errorText.firstMatch(of: /Collected : (\d+)/)?.output.1 ?? "?"
            print("  \(command.name): \(count) instructions")
        }
    }

    private struct Report: Decodable {
        struct Result: Decodable {
            /// Of each run, in seconds.
            let times: [Double]
        }
        let results: [Result]
    }

    func secretService() async throws {
        try await latchkey.run(
            ["set", "--store", "secret-service", "bench", "alice"], environment: environment,
            input: Array("secret".utf8)
        ).successful("latchkey set")
        let keyring = "--store secret-service bench"
        try await compare(
            "Cold read from the Secret Service (limit: 1.1 × secret-tool)", limit: 1.1,
            [
                ("secret-tool lookup", "secret-tool lookup service bench username alice"),
                ("latchkey get", "\(latchkey.path) get \(keyring) alice"),
            ])
        let secret = try directory.write("secret", "secret")
        try await compare(
            "Cold save to the Secret Service (limit: 1.25 × secret-tool)", limit: 1.25, input: secret,
            [
                ("secret-tool store", "secret-tool store --label=Bench service bench username bob"),
                ("latchkey set", "\(latchkey.path) set \(keyring) carol"),
            ])
        try await compare(
            "Cold listing of a service's items in the Secret Service", limit: nil,
            [
                ("secret-tool search --all (with the secrets)", "secret-tool search --all service bench"),
                ("latchkey list", "\(latchkey.path) list \(keyring)"),
            ])
        let script = try directory.write(
            "get.py", "import keyring\nprint(keyring.get_password('bench', 'alice'))\n")
        try await compare(
            "Cold read from the Secret Service, beside Python keyring", limit: nil, runs: 30,
            [
                ("Python keyring", "/usr/bin/python3 \(script)"),
                ("latchkey get", "\(latchkey.path) get \(keyring) alice"),
            ])
    }

    func vault() async throws {
        try directory.makeFolder("gnupg")
        let gpg = try Program("gpg")
        try await gpg.run(
            ["--batch", "--passphrase", "", "--quick-gen-key", "bench@example.test", "default", "default", "never"],
            environment: environment
        ).successful("gpg --quick-gen-key")
        let plain = try directory.write("plain", "secret")
        let sealed = directory / "plain.gpg"
        try await gpg.run(
            ["--batch", "-q", "-o", sealed, "-r", "bench@example.test", "-e", plain], environment: environment
        ).successful("gpg -e")
        let age = try await age(plain)
        try await latchkey.run(
            ["vault", "init", "--key-file", directory / "key"], environment: environment
        ).successful("latchkey vault init")
        try await latchkey.run(
            ["set", "--store", "vault", "bench", "alice"], environment: environment, input: Array("secret".utf8)
        ).successful("latchkey set")
        for number in 1..<100 {
            try await latchkey.run(
                ["set", "--store", "vault", "bench", "\(number)"], environment: environment,
                input: Array("secret".utf8)
            ).successful("latchkey set")
        }
        // `vault init` remembered the key file: here `get` finds it by itself.
        try await keyless.compare(
            "Cold read from a vault of 100 whose key file is found (limit: 1.0 × gpg -d)", limit: 1.0,
            [
                ("gpg -d, key without a passphrase", "gpg --batch -q -d \(sealed)"),
                ("age -d", age),
                ("latchkey get --store vault", "\(latchkey.path) get --store vault bench alice"),
            ])
        _ = try await Program("gpgconf").run(["--kill", "all"], environment: environment)
        try await keyless.countInstructions(
            "The same, in instructions (limit: 6 million for get, without the comparison of 100 items)",
            [
                ("latchkey --version", ["--version"]),
                ("latchkey get --store vault", ["get", "--store", "vault", "bench", "alice"]),
            ])
        try await kernelKey()
    }

    /// The same without a key file that is named.
    private var keyless: ColdStart {
        var environment = environment
        environment["LATCHKEY_KEY_FILE"] = nil
        return ColdStart(latchkey: latchkey, directory: directory, environment: environment)
    }

    /// Opening with the key that `vault unlock` left in the kernel, beside a key file and a start that opens nothing.
    private func kernelKey() async throws {
        let start = ("latchkey --version", "\(latchkey.path) --version")
        let get = "\(latchkey.path) get --store vault bench alice"
        try await compare(
            "Opening a vault with a key file, beyond a process's start", limit: nil,
            [start, ("latchkey get --store vault", get)])
        let unlock = try await latchkey.run(["vault", "unlock", "--for", "10m"], environment: environment)
        guard unlock.status == 0 else { return print("  the kernel's keyring is refused here") }
        try await keyless.compare(
            "Opening a vault with a key from the kernel, beyond a process's start", limit: nil,
            [start, ("latchkey get --store vault", get)])
        try await latchkey.run(["vault", "lock"], environment: environment).successful("latchkey vault lock")
    }

    /// A command line by which age decrypts a file's content.
    private func age(_ plain: String) async throws -> String {
        let (identity, aged) = (directory / "age.key", directory / "plain.age")
        try? FileManager.default.removeItem(atPath: identity)
        try await Program("age-keygen").run(["-o", identity], environment: environment).successful("age-keygen")
        let recipient = try await Program("age-keygen").run(["-y", identity], environment: environment).outputText
        try await Program("age").run(
            ["-r", recipient.trimmingCharacters(in: .whitespacesAndNewlines), "-o", aged, plain],
            environment: environment
        ).successful("age -e")
        return "age -d -i \(identity) \(aged)"
    }

    // MARK: - Tokens

    /// A token that is good, as other programs get it; and one that has ended, with a refresh.
    func tokens() async throws {
        let script = TestData.package.appendingPathComponent("Tests/Commands/CommandTests/strict_server.py").path
        let server = try Program("python3").start([
            script,
            #"{"methods": ["client_secret_basic"], "secret": "s3cret", "scopes": ["openid"], "userinfo": null}"#,
        ])
        try await server.wait(for: "its address") { server.outputSoFar.contains("\n") }
        let issuer = String(server.outputSoFar.prefix { $0 != "\n" })
        var environment = environment
        environment["LATCHKEY_KEY_FILE"] = directory / "tokens-key"
        environment["LATCHKEY_VAULT"] = directory / "tokens-vault"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write(
            "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700
        )
        environment["HOME"] = try directory.makeFolder("home-of-tokens")
        let shell = ColdStart(latchkey: latchkey, directory: directory, environment: environment)
        func run(_ arguments: [String], input: String = "") async throws {
            try await latchkey.run(arguments, environment: environment, input: Array(input.utf8))
                .successful("latchkey " + arguments[0])
        }
        try await run(["vault", "init", "--key-file", directory / "tokens-key"])
        try await run(
            ["provider", "add", "work", "--issuer", issuer, "--client-id", "me", "--client-secret-stdin"],
            input: "s3cret")
        try await run(["sign-in", "work"])
        let agent = try await Program("bash").run(
            ["-c", Self.agent, "bash", issuer, directory.path], environment: environment
        ).successful("oidc-agent").outputText.split(separator: " ").map(String.init)
        defer { if let pid = agent.last.flatMap(Int32.init) { kill(pid, SIGTERM) } }
        let rows = [
            ("age -d", try await age(directory.write("plain", "secret"))),
            ("oidc-token, which an agent answers from memory", "env OIDC_SOCK=\(agent[0]) oidc-token bench"),
            ("latchkey token", "\(latchkey.path) token work"),
            ("latchkey helper headers", "\(latchkey.path) helper headers work"),
            ("latchkey helper kubectl --id", "\(latchkey.path) helper kubectl work --id"),
        ]
        try await shell.compare("A good token (limit: 2.2 × age -d)", limit: 2.2, rows)
        server.type("{\"lifetime\": 1}\n")
        try await server.wait(for: "its change") { server.outputSoFar.contains("changed") }
        try await run(["sign-in", "work"])
        let refresh = try directory.write("refresh.sh", Self.refresh, mode: 0o700)
        try await shell.compare(
            "A refresh, at a server on this machine", limit: nil, runs: 30, pause: 1.1,
            [
                ("curl in a shell, without a lock", "\(refresh) \(issuer) \(directory.path)"),
                ("latchkey token", "\(latchkey.path) token work"),
            ])
        server.kill()
    }

    /// Gets a refresh token by hand, and starts oidc-agent with it. Writes the agent's socket and process.
    private static let agent = """
        set -eu
        grant() {
            verifier=$(head -c 40 /dev/urandom | base64 | tr -d '+/=' | head -c 43)
            challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d =)
            code=$(curl -s -o /dev/null -w '%{redirect_url}' "$1/authorize?response_type=code&client_id=me&state=x&scope=openid\
        &redirect_uri=http://127.0.0.1/cb&code_challenge=$challenge&code_challenge_method=S256" |
                sed 's/.*code=\\([^&]*\\).*/\\1/')
            curl -s -u me:s3cret "$1/token" -d grant_type=authorization_code -d "code=$code" -d client_id=me \
                -d redirect_uri=http://127.0.0.1/cb -d "code_verifier=$verifier" |
                sed 's/.*"refresh_token": "\\([^"]*\\)".*/\\1/'
        }
        grant "$1" > "$2/curl-refresh"
        eval "$(oidc-agent)" > /dev/null
        oidc-gen bench --manual "--iss=$1" --client-id=me --client-secret=s3cret --redirect-uri=http://localhost:4242 \
            --scope=openid "--rt=$(grant "$1")" --pw-cmd='echo pw' --prompt=none --confirm-default > /dev/null 2>&1
        oidc-token bench > /dev/null
        printf '%s %s' "$OIDC_SOCK" "$OIDCD_PID"
        """

    /// What people write in a shell: one caller at a time, and the token is in a file.
    private static let refresh = """
        #!/bin/sh
        answer=$(curl -s -u me:s3cret "$1/token" -d grant_type=refresh_token -d "refresh_token=$(cat "$2/curl-refresh")")
        printf %s "$answer" | sed 's/.*"refresh_token": "\\([^"]*\\)".*/\\1/' > "$2/curl-refresh"
        printf %s "$answer" | sed 's/.*"access_token": "\\([^"]*\\)".*/\\1/'
        """
}
