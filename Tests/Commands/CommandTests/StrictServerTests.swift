internal import Foundation
internal import LatchkeyTestServer
internal import Testing
internal import TestServices

/// Sign-ins at a server that insists on what the RFCs require. Other people's servers found what our own test server let
/// pass; this one is a program that knows nothing of ours.
@Suite struct StrictServerTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write(
            "browser", "#!/bin/sh\ncurl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700)
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
    }

    @discardableResult
    private func run(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
    }

    private static let secret = "a/secret: with+20%"

    private func signIn(options: [String] = []) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["sign-in", "work", "--timeout", "60"] + options, environment: environment)
    }

    // MARK: - Requests

    /// A pushed request had no `client_id` where the client authenticates by Basic: such a client couldn't sign in.
    @Test(arguments: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"], [true, false])
    func `each request of a session has what its RFC requires, once`(
        method: String, isPushed: Bool
    ) async throws {
        let isPublic = method == "none" || method == "private_key_jwt"
        let secret = isPublic ? "null" : "\"\(Self.secret)\""
        let server = try await StrictServer(
            #"{"methods": ["\#(method)"], "secret": \#(secret), "par": \#(isPushed), "lifetime": 1}"#)
        let options = isPublic ? method == "none" ? [] : ["--new-client-key"] : ["--client-secret-stdin"]
        let added = try await BuiltProducts.latchkey().run(
            ["provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--scope", "openid"]
                + options + (isPushed ? ["--par"] : []), environment: environment,
            input: isPublic ? [] : Array(Self.secret.utf8)
        ).successful("provider add")
        if method == "private_key_jwt" {
            try await server.change(#"{"jwk": \#(added.outputText.replacing("\n", with: ""))}"#)
        }
        try await signIn().successful("sign-in")
        // The token's one second has passed then, however fast the machine is.
        try await Task.sleep(for: .milliseconds(1100))
        try await run("token", "work").successful("token")
        try await run("sign-out", "work").successful("sign-out")
        let terminal = try PseudoTerminal()
        try await BuiltProducts.latchkey().start(
            ["sign-in", "work", "--device"], environment: environment, terminal: terminal
        ).finish().successful("sign-in --device")
        var events = isPushed ? ["took a pushed request"] : []
        events += [
            "issued tokens", "refreshed", "issued tokens", "revoked a token", "revoked a token", "issued tokens",
        ]
        #expect(server.events.filter { $0 != "changed" } == events)
    }

    // MARK: - Parameters and redirects

    @Test func `the person's own parameters are sent, stored with the provider, and replaced for one sign-in`()
        async throws
    {
        let server = try await StrictServer("{}")
        try await run(
            "provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--parameter", "login_hint=ada",
            "--parameter", "prompt=login"
        ).successful("provider add")
        try await signIn().successful("sign-in")
        try await signIn(options: ["--parameter", "login_hint=grace = x"]).successful("sign-in")
        try await signIn().successful("sign-in")
        #expect(
            server.events.filter { $0 != "issued tokens" && $0 != "revoked a token" } == [
                "was told that ada signs in", "had another prompt", "was told that grace = x signs in",
                "was told that ada signs in", "had another prompt",
            ])
    }

    @Test(arguments: ["state=x", "resource=https://a.example", "=x", "login_hint=", "login_hint", "a b=c"])
    func `a parameter that is ours, empty or malformed is refused`(parameter: String) async throws {
        let run = try await run(
            "provider", "add", "work", "--issuer", "http://127.0.0.1:9", "--client-id", "me", "--parameter", parameter)
        #expect(run.status == 64 && run.errorText.contains("hint:"), "\(run.errorText)")
        let twice = try await self.run(
            "provider", "add", "work", "--issuer", "http://127.0.0.1:9", "--client-id", "me", "--parameter", "a=b",
            "--parameter", "a=c")
        #expect(twice.status == 64 && twice.errorText.contains("[provider.parameter-twice]"), "\(twice.errorText)")
    }

    /// Many clients are registered with that name and nothing else.
    @Test func `a client that is registered with localhost and a port signs in there`() async throws {
        let listener = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(port: LoopbackPort.free()))
        let port = try #require(URL(string: listener.issuer)?.port)
        let redirect = "http://localhost:\(port)/cb"
        let server = try await StrictServer(#"{"redirects": ["\#(redirect)"]}"#)
        try await run(
            "provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--redirect", redirect
        ).successful("provider add")
        let taken = try await signIn()
        #expect(
            taken.status == 69 && taken.errorText.contains("another process uses port \(port)"), "\(taken.errorText)")
        listener.stop()
        try await signIn().successful("sign-in")
        #expect(server.events == ["issued tokens"])
    }

    // MARK: - Who signed in

    /// A mail server's token is refused where OpenID's user information is, and the sign-in was good all the same.
    @Test(arguments: [
        (#"{"tells": true, "claims": {"email": "ada@example.org"}, "userinfo": null}"#, "ada@example.org", 0),
        (#"{"tells": true, "claims": {"email": "ada@example.org", "preferred_username": "ada"}}"#, "ada", 0),
        (#"{"tells": true}"#, "ada", 1), (#"{"tells": true, "userinfo": null}"#, "1", 1),
    ])
    func `the ID token names the account, or else the user information`(
        settings: String, account: String, questions: Int
    ) async throws {
        let server = try await StrictServer(settings)
        try await run(
            "provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--for-host",
            "smtp://mail.example.org:587", "--for-host", "imap://mail.example.org:993"
        ).successful("provider add")
        let signedIn = try await signIn().successful("sign-in")
        #expect(signedIn.errorText.contains("as \(account)\n"), "\(signedIn.errorText)")
        #expect(server.events.count { $0 == "was asked who signed in" } == questions)
        let token = try await run("token", "work").successful("token").outputText
        for host in ["smtp\nhost=mail.example.org:587", "imap\nhost=mail.example.org:993"] {
            let answer = try await run("helper", "git", "get", input: "protocol=\(host)\n\n")
            #expect(answer.outputText.hasPrefix("username=\(account)\npassword=\(token)\n"), "\(answer.errorText)")
        }
        for host in ["smtp\nhost=mail.example.org:25", "https\nhost=mail.example.org:587"] {
            #expect(try await run("helper", "git", "get", input: "protocol=\(host)\n\n").output.isEmpty)
        }
    }

    @Test(arguments: ["smtp://mail.example.org", "smtp://mail.example.org:587/x", "ftp://mail.example.org:21"])
    func `a mail server's name is host and port only`(host: String) async throws {
        let run = try await run(
            "provider", "add", "work", "--issuer", "http://127.0.0.1:9", "--client-id", "me", "--for-host", host)
        #expect(run.status == 64 && run.errorText.contains("[provider.host]"), "\(run.errorText)")
    }

    @Test
    func `latchkey asks for a name if no server names the account, and an empty answer takes the provider's name`()
        async throws
    {
        let server = try await StrictServer(#"{"openid": false}"#)
        try await run(
            "provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--scope", "read"
        ).successful("provider add")
        for (typed, account) in [("ada at home\n", "ada at home"), ("\n", "work")] {
            let terminal = try PseudoTerminal()
            let program = try BuiltProducts.latchkey().start(
                ["sign-in", "work", "--browser"], environment: environment, terminal: terminal)
            try await terminal.waitUntilShown("Name for the account")
            terminal.type(typed)
            let run = try await program.finish()
            #expect(run.status == 0)
            let accounts = try await self.run("accounts").outputText
            #expect(accounts.contains(account), "\(accounts)")
        }
    }

    // MARK: - Refresh tokens

    /// The scope was requested and the consent wasn't: the session ended with its first token, and nothing said so.
    @Test func `a server that wants consent for offline_access gets a request for it, and issues a refresh token`()
        async throws
    {
        let server = try await StrictServer(#"{"offline": true}"#)
        try await run(
            "provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--scope", "openid", "--scope",
            "offline_access"
        ).successful("provider add")
        let run = try await signIn().successful("sign-in")
        #expect(server.events == ["asked for consent", "issued tokens"])
        #expect(run.errorText.hasSuffix("latchkey: signed in at work as ada\n"), "\(run.errorText)")
        #expect(try await self.run("accounts").outputText.contains("refreshes itself"))
    }

    @Test func `a session without a refresh token says so at the end of the sign-in, and what helps`() async throws {
        let server = try await StrictServer(#"{"offline": true}"#)
        try await run("provider", "add", "work", "--issuer", server.issuer, "--client-id", "me")
            .successful("provider add")
        let run = try await signIn().successful("sign-in")
        #expect(server.events == ["issued tokens"])
        let told = try #require(
            run.errorText.firstMatch(
                of:
                    /latchkey: this session ends at [^\n]+ because [^\n]+\nlatchkey: to get [^\n]+, run `latchkey (sign-in work [^\n]+)`\n$/
            ), "\(run.errorText)")
        // What helps is a command that works.
        let again = try await BuiltProducts.latchkey().run(
            told.output.1.split(separator: " ").map(String.init), environment: environment
        ).successful("sign-in")
        #expect(again.errorText.hasSuffix("latchkey: signed in at work as ada\n"), "\(again.errorText)")
    }

    // MARK: - Registration

    /// A public client was requested where the server offers secrets alone, and the redirect URI had no port where the
    /// server compares it as a whole: the sign-in then waited for ten minutes.
    @Test(arguments: [
        (["client_secret_basic"], "client_secret_basic"), (["client_secret_post"], "client_secret_post"),
        (["none", "client_secret_basic"], "none"), (["none"], "none"),
    ])
    func `--register uses a method that the server offers, and exactly the redirect URI of sign-ins`(
        offered: [String], taken: String
    ) async throws {
        let methods = offered.map { "\"\($0)\"" }.joined(separator: ", ")
        let server = try await StrictServer(#"{"methods": [\#(methods)]}"#)
        let added = try await run("provider", "add", "work", "--issuer", server.issuer, "--register")
            .successful("provider add")
        // The port is one that the kernel gives to no outgoing connection.
        let port = try #require(
            added.errorText.firstMatch(of: /registered the redirect URI http:\/\/127\.0\.0\.1:([0-9]+)\//),
            "\(added.errorText)")
        #expect((61_000...65_535).contains(try #require(Int(port.output.1))))
        for _ in 0..<2 { try await signIn().successful("sign-in") }
        #expect(server.events.prefix(2) == ["registered a client by \(taken)", "issued tokens"])
        #expect(!server.events.contains { $0.hasPrefix("refused") })
    }

    @Test func `--register reports a server without a common method before it registers`() async throws {
        let server = try await StrictServer(#"{"methods": ["private_key_jwt"]}"#)
        let added = try await run("provider", "add", "work", "--issuer", server.issuer, "--register")
        #expect(added.status == 76 && added.errorText.contains("[oauth.invalid-metadata]"), "\(added.errorText)")
        #expect(server.events == [])
    }

    @Test func `at a server's error page the terminal says what to check`() async throws {
        let server = try await StrictServer(#"{"redirects": ["http://127.0.0.1/registered"]}"#)
        try await run("provider", "add", "work", "--issuer", server.issuer, "--client-id", "me")
            .successful("provider add")
        let running = try BuiltProducts.latchkey().start(["sign-in", "work"], environment: environment)
        try await running.wait(for: "advice") { running.errorsSoFar.contains("no response yet") }
        running.signal(SIGINT)
        let run = try await running.finish()
        #expect(run.status == 130)
        #expect(server.events == ["refused the redirect URI"])
        let advice =
            /no response yet\. If the browser shows an error page, [^\n]+: client ID me, redirect URI http:\/\/127\.0\.0\.1\/[^\n]+ with any port, scopes openid\.\n/
        #expect(run.errorText.contains(advice), "\(run.errorText)")
    }

    // MARK: - Names

    /// After the browser round the tokens were revoked, because nothing said who signed in.
    @Test(arguments: [
        (#"{"openid": false}"#, "work"), (#"{"userinfo": null}"#, "work"), (#"{"userinfo": {"sub": "1"}}"#, "1"),
        (#"{"userinfo": {"picture": "https://pictures.example"}}"#, "work"),
        (#"{"userinfo": {"sub": "1", "preferred_username": "ada\u0007"}}"#, "work"),
        (#"{"userinfo": {"sub": 1, "preferred_username": ""}}"#, "1"),
    ])
    func `a missing name from the server doesn't cost the sign-in`(settings: String, name: String) async throws {
        let server = try await StrictServer(settings)
        try await run("provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--scope", "read")
            .successful("provider add")
        let run = try await signIn().successful("sign-in")
        #expect(server.events == ["issued tokens"])
        #expect(run.errorText.contains("latchkey: signed in at work as \(name)\n"), "\(run.errorText)")
        let said = "work doesn't say who signed in, so the account is named work."
        #expect(run.errorText.contains(said) == (name == "work"), "\(run.errorText)")
        #expect(try await self.run("token", "work").successful("token").output.count == 32)
        // The same person signs in again.
        try await signIn().successful("sign-in")
        #expect(try await self.run("accounts").outputText.split(separator: "\n").count == 2)
    }

    @Test func `a name that passes to another person replaces no account, and loses no sign-in`() async throws {
        let server = try await StrictServer("{}")
        try await run("provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--scope", "read")
            .successful("provider add")
        try await signIn().successful("sign-in")
        let first = try await run("token", "work").output
        try await server.change(#"{"userinfo": {"sub": "2", "preferred_username": "ada"}}"#)
        for _ in 0..<2 {
            let run = try await signIn().successful("sign-in")
            #expect(
                run.errorText.hasSuffix(
                    """
                    latchkey: signed in at work as ada-2
                    latchkey: ada is another person's account at work, so this one is named ada-2

                    """), "\(run.errorText)")
        }
        #expect(try await run("token", "work", "--account", "ada").output == first)
        #expect(try await run("accounts").outputText.split(separator: "\n").count == 3)
        // A name that was chosen is the only one that will do.
        let refused = try await signIn(options: ["--account", "ada"])
        #expect(refused.status == 77 && refused.errorText.contains("[sign-in.other-person]"), "\(refused.errorText)")
    }

    // MARK: - ID tokens

    private static let algorithms = [
        "ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA",
    ]

    /// ES256 and RS256 alone were accepted, whatever the server announced.
    @Test(
        arguments: algorithms.map { #""algorithm": "\#($0)""# } + [
            #""algorithm": "EdDSA", "curve": "Ed448""#, #""algorithm": "PS384", "named": false"#,
            #""algorithm": "ES512", "named": false"#,
        ])
    func `an ID token by each algorithm that the server announces is accepted`(settings: String) async throws {
        #expect(try await signIn(settings).status == 0)
    }

    /// Every algorithm but the one that signs is announced. OpenID Connect Discovery requires the announcement; servers
    /// of OAuth alone leave it out.
    @Test(
        arguments: algorithms.map { algorithm in
            (algorithm, algorithms.filter { $0 != algorithm })
        } + [("PS256", ["none", "HS256"]), ("PS256", []), ("EdDSA", [])])
    func `an ID token by an algorithm that the server doesn't announce is refused`(
        algorithm: String, announced: [String]
    ) async throws {
        let list = announced.map { "\"\($0)\"" }.joined(separator: ", ")
        let run = try await signIn(#""algorithm": "\#(algorithm)", "announced": [\#(list)]"#)
        #expect(run.status == 76 && run.errorText.contains("[oauth.invalid-response]"), "\(run.errorText)")
    }

    @Test(arguments: ["ES256", "RS256"])
    func `a server that announces no algorithm may sign with the two that most servers use`(
        algorithm: String
    ) async throws {
        #expect(try await signIn(#""algorithm": "\#(algorithm)", "announced": []"#).status == 0)
    }

    private func signIn(_ settings: String) async throws -> ProgramRun {
        let server = try await StrictServer("{\(settings)}")
        try await run("provider", "add", "work", "--issuer", server.issuer, "--client-id", "me", "--force")
            .successful("provider add")
        return try await signIn()
    }

    /// `nbf` was not looked at.
    @Test(arguments: ["iat", "nbf"])
    func `an ID token that is good from the day after tomorrow on is refused`(claim: String) async throws {
        for (seconds, status) in [(2 * 86_400 + 3600, Int32(76)), (2 * 86_400 - 3600, 0)] {
            let run = try await signIn(#""times": {"\#(claim)": \#(seconds)}"#)
            #expect(run.status == status, "\(run.errorText)")
        }
    }
}
