import Foundation
import TestServices
import Testing

/// The whole path on a real authorization server, with each store.
struct RealServerTests {
    /// A server, a person at a browser, and a terminal where the server is known as `work`.
    struct Setting {
        let server: Glewlwyd
        let person: Person
        let terminal: CommandLineSession
        let issuer: String

        init(
            _ store: StoreUnderTest, issuer: Glewlwyd.Issuer = .hour, briefTokenSeconds: Int = 3,
            answer: Person.Answer = .consent, client: String = Glewlwyd.nativeClient, tls: Bool = false,
            redirect: String? = nil, options: [String] = []
        ) async throws {
            let redirect = try redirect ?? "http://127.0.0.1:\(LoopbackPort.free())/callback"
            let server = try await Glewlwyd(
                redirectURIs: [redirect], briefTokenSeconds: briefTokenSeconds, tls: tls)
            let authority = server.certificateAuthority?.certificate
            var person: Person?
            terminal = try await CommandLineSession(store) { directory in
                person = try Person(in: directory, answer: answer, authority: authority)
                return ["BROWSER": person?.browser ?? ""]
            }
            self.person = try #require(person)
            self.server = server
            self.issuer = server.issuer(issuer)
            let isConfidential = client == Glewlwyd.confidentialClient
            try await terminal.run(
                ["provider", "add", "work", "--issuer", self.issuer, "--client-id", client]
                    + ["--scope", "openid", "--scope", "offline_access", "--redirect", redirect]
                    + (isConfidential ? ["--client-secret-stdin"] : []) + (authority.map { ["--ca-file", $0] } ?? [])
                    + options,
                input: isConfidential ? Glewlwyd.confidentialSecret : "")
        }

        func userinfo() async throws -> String {
            try await terminal.run(["request", "work", "GET", issuer + "/userinfo"]).outputText
        }

        /// The account that `latchkey accounts` shows, when there is one.
        func onlyAccount() async throws -> String {
            let json = try await terminal.run(["accounts", "--json"]).output
            let rows = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [[String: Any]])
            try #require(rows.count == 1)
            #expect(rows[0]["provider"] as? String == "work")
            #expect(rows[0]["current"] as? Bool == true)
            return try #require(rows[0]["account"] as? String)
        }

        func token() async throws -> [UInt8] {
            try await terminal.run(["token", "work"], outputIsSecret: true).output
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a sign-in is stored, used and ended, and shows no secret`(store: StoreUnderTest) async throws {
        let setting = try await Setting(store)
        let terminal = setting.terminal
        try await terminal.run(["sign-in", "work"])

        let record = try await setting.person.record()
        #expect(record.startedWith.contains("/go/"), "the browser is started without the state on its command line")
        #expect(record.requested("code_challenge_method") == "S256")
        #expect(record.requested("nonce") != nil)
        #expect(record.pageStatus == 200)

        #expect(try await setting.userinfo().contains("Alice Example"))
        let account = try await setting.onlyAccount()
        let token = try await setting.token()
        #expect(token.count > 100)
        #expect(try setting.server.accessTokensIssued(.hour) == 1, "a token that is still good is not refreshed")

        let canaries = try Canaries(record: record, tokens: [token])
        let listing = try await terminal.run(["list", "--all", "latchkey:work", "--json"]).outputText
        #expect(listing.contains(account))
        if let session = try await terminal.storedSession(of: "work", account: account) {
            try canaries.add(session: session)
        }
        try canaries.expectNone(inFilesOf: terminal.directory)

        try await terminal.run(["sign-out", "work"])
        #expect(try setting.server.refreshTokensRevoked(.hour) == 1)
        try await terminal.run(["token", "work"], expecting: 1)
        #expect(try await !terminal.run(["list", "--all", "--json"]).outputText.contains(account))
        try canaries.expectNone(in: terminal.transcript)
    }

    @Test func `a program is run with the token in its environment, and nowhere else`() async throws {
        let setting = try await Setting(.vault)
        let terminal = setting.terminal
        try await terminal.run(["sign-in", "work"])
        let token = try await setting.token()
        func run(_ words: String..., expecting status: Int32 = 0) async throws -> ProgramRun {
            try await terminal.run(["run", "work"] + words, outputIsSecret: true, expecting: status)
        }

        #expect(try await run("--", "printenv", "LATCHKEY_TOKEN").output == token + [10])
        #expect(try await run("--env", "TOKEN", "--", "sh", "-c", "printf %s \"$TOKEN\"").output == token)
        #expect(try await run("--env", "TOKEN", "printenv", "LATCHKEY_TOKEN", expecting: 1).output == [])
        // What leads to the vault's key and to everything else stays here.
        let variables = try await run("--env", "TOKEN", "env").outputText
        #expect(!variables.contains("LATCHKEY_") && variables.contains("\nTOKEN=") || variables.hasPrefix("TOKEN="))
        // A variable of that name that was there before is replaced, not doubled.
        #expect(
            try await run("--env", "HOME", "env").output.split(separator: 10).count {
                $0.starts(with: Array("HOME=".utf8))
            } == 1)

        // The program's own options are its own, and so are its status and the signal that ends it.
        #expect(try await run("printf", "%s", "--account").outputText == "--account")
        _ = try await run("sh", "-c", "exit 7", expecting: 7)
        _ = try await run("sh", "-c", "kill -TERM $$", expecting: 128 + SIGTERM)
        #expect(try await run("cat", "/proc/self/cmdline").outputText == "cat\0/proc/self/cmdline\0")
        // No signal is held back or ignored that wasn't before; the C library's own two, 32 and 33, aside.
        let lines = try await run("cat", "/proc/self/status").outputText.split(separator: "\n")
        for name in ["SigBlk:\t", "SigIgn:\t"] {
            let line = try #require(lines.first { $0.hasPrefix(name) })
            #expect(UInt64(line.dropFirst(name.count), radix: 16).map { $0 & 0x7FFF_FFFF } == 0)
        }

        _ = try await run("--", "no-such-program-here", expecting: 127)
        _ = try await run("--", "/etc/passwd", expecting: 126)
        _ = try await run("--env", "1X", "true", expecting: 64)
        _ = try await run(expecting: 64)
        _ = try await terminal.run(["sign-out", "work"])
        _ = try await run("true", expecting: 1)
        try await Canaries(record: setting.person.record(), tokens: [token]).expectNone(in: terminal.transcript)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an expired token is refreshed, and the next use takes the new token`(store: StoreUnderTest) async throws {
        let setting = try await Setting(store, issuer: .brief)
        try await setting.terminal.run(["sign-in", "work"])
        let first = try await setting.token()
        // The server gave it three seconds.
        try await Task.sleep(for: .milliseconds(3100))
        #expect(try await setting.userinfo().contains("Alice Example"))
        let second = try await setting.token()
        #expect(first != second)
        #expect(try setting.server.accessTokensIssued(.brief) >= 2)
        try await Canaries(record: setting.person.record(), tokens: [first, second])
            .expectNone(in: setting.terminal.transcript)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a person who says no leaves no session`(store: StoreUnderTest) async throws {
        let setting = try await Setting(store, answer: .deny)
        try await setting.terminal.run(["sign-in", "work"], expecting: 77)
        try await setting.terminal.run(["token", "work"], expecting: 1)
        #expect(try setting.server.accessTokensIssued(.hour) == 0)
        try await Canaries(record: setting.person.record(), tokens: []).expectNone(in: setting.terminal.transcript)
    }

    @Test func `Latchkey waits for a closed browser no longer than the deadline`() async throws {
        let setting = try await Setting(.vault, answer: .close)
        try await setting.terminal.run(["sign-in", "work", "--timeout", "1"], expecting: 75)
    }

    /// Without the lease each process would spend the same refresh token, and the server would revoke the family.
    @Test(arguments: StoreUnderTest.allCases)
    func `many processes with an expired token make one refresh`(store: StoreUnderTest) async throws {
        // A token of sixteen seconds is refreshed in its last four.
        let setting = try await Setting(store, issuer: .brief, briefTokenSeconds: 16)
        try await setting.terminal.run(["sign-in", "work"])
        try await Task.sleep(for: .seconds(13))
        let tokens = try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { try await setting.token() } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(try setting.server.accessTokensIssued(.brief) == 2)
        #expect(try setting.server.refreshTokensRevoked(.brief) == 0)
    }

    @Test func `a person without a local browser signs in by pasting the final address of another one`() async throws {
        let setting = try await Setting(.vault)
        let terminal = try PseudoTerminal()
        let run = try await setting.terminal.run(["sign-in", "work", "--paste"], on: terminal) { program in
            let address = try Regex("http://127\\.0\\.0\\.1:[0-9]+/api/[^\\s]*code_challenge[^\\s]*")
            try await program.wait(for: "the address and the question") {
                terminal.shown.contains(address) && !terminal.echoes
            }
            let url = try #require(terminal.shown.firstMatch(of: address).map { String(terminal.shown[$0.range]) })
            let record = try await setting.person.open(url)
            terminal.type(try #require(record.callback) + "\n")
        }
        #expect(run.status == 0, "\(run.errorText)\(terminal.shown)")
        let token = try await setting.token()
        try await Canaries(record: setting.person.record(), tokens: [token], pasted: true)
            .expectNone(in: setting.terminal.transcript, shown: terminal.shown)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `Latchkey stores a client's secret and authenticates with it`(store: StoreUnderTest) async throws {
        let setting = try await Setting(store, client: Glewlwyd.confidentialClient)
        try await setting.terminal.run(["sign-in", "work"])
        #expect(try await setting.userinfo().contains("Alice Example"))
        let canaries = try await Canaries(record: setting.person.record(), tokens: [setting.token()])
        try canaries.add(clientSecret: Glewlwyd.confidentialSecret)
        try canaries.expectNone(inFilesOf: setting.terminal.directory)
        try await setting.terminal.run(["sign-out", "work"])
        #expect(try setting.server.refreshTokensRevoked(.hour, client: Glewlwyd.confidentialClient) == 1)
        try await setting.terminal.run(["provider", "remove", "work"])
        #expect(try await !setting.terminal.run(["list", "--all", "--json"]).outputText.contains("latchkey:work"))
        try canaries.expectNone(in: setting.terminal.transcript)
    }

    @Test func `sign-out everywhere reaches each account at each provider, and each server`() async throws {
        let setting = try await Setting(.vault)
        let terminal = setting.terminal
        try await terminal.run(["sign-out", "--everywhere"], expecting: 1)
        try await terminal.run(["sign-in", "work", "--account", "one"])
        try await terminal.run(["sign-in", "work", "--account", "two"])
        try await terminal.run(["sign-out"], expecting: 64)
        try await terminal.run(["sign-out", "--everywhere", "--account", "one"], expecting: 64)
        let run = try await terminal.run(["sign-out", "--everywhere"])
        #expect(run.errorText.contains("work one: ") && run.errorText.contains("work two: "))
        #expect(try setting.server.refreshTokensRevoked(.hour) == 2)
        #expect(try await !terminal.run(["list", "--all", "--json"]).outputText.contains("latchkey:work"))

        // A server that is gone keeps no session here, and is said to be gone.
        try await terminal.run(["sign-in", "work", "--account", "one"])
        try await terminal.run(["sign-in", "work", "--account", "two"])
        await setting.server.stop()
        let alone = try await terminal.run(["sign-out", "work", "--everywhere"], expecting: 69)
        #expect(alone.errorText.contains("work two: "))
        #expect(try await !terminal.run(["list", "--all", "--json"]).outputText.contains("latchkey:work"))
    }

    @Test func `a server with a private authority's certificate is trusted only on request`()
        async throws
    {
        let setting = try await Setting(.vault, tls: true)
        try await setting.terminal.run(["sign-in", "work"])
        #expect(try await setting.userinfo().contains("Alice Example"))

        let untrusted = ["provider", "add", "other", "--issuer", setting.issuer, "--client-id", Glewlwyd.nativeClient]
        let refused = try await setting.terminal.run(untrusted, expecting: 77)
        #expect(refused.errorText.contains("certificate"))
        #expect(refused.errorText.contains("--ca-file"))
        try await setting.terminal.run(["sign-in", "other"], expecting: 1)
    }
}

extension RealBrowser {
    /// A real browser at a real server's own pages, which are scripts.
    @Suite(.serialized, .inChromium) struct RealServerTests {
        @Test func `on glewlwyd's own pages a person signs in, grants one scope of two, and the session says which`()
            async throws
        {
            let browser = try RealBrowser.browser()
            let redirect = "http://127.0.0.1:\(try LoopbackPort.free())/callback"
            let server = try await Glewlwyd(redirectURIs: [redirect], pages: true)
            let session = try await CommandLineSession(.vault) { _ in ["BROWSER": browser.command] }
            try await session.run([
                "provider", "add", "work", "--issuer", server.issuer(.hour), "--client-id", Glewlwyd.nativeClient,
                "--scope", "openid", "--scope", "notes:read", "--scope", "notes:write",
                "--redirect", redirect,
            ])
            let run = try await session.run(["sign-in", "work", "--browser"], on: PseudoTerminal()) { _ in
                let tab = try await browser.newTab()
                try await tab.type(Glewlwyd.user, into: "#username")
                try await tab.type(Glewlwyd.userPassword, into: "#password")
                try await tab.click("#loginbut")
                // The person ticks one of the scopes, and not the other.
                try await tab.click("[id='grant-notes:read']")
                try await tab.click(".carousel .btn-primary")
                try await tab.wait(forText: "What do you wish for?")
                try await tab.click(".card-footer .btn-success")
                try await tab.wait(forTitle: "You are signed in")
            }
            #expect(run.status == 0, "\(run.errorText)")
            #expect(try server.accessTokensIssued(.hour) == 1)
            let accounts = try await session.run(["accounts", "--json"]).outputText
            #expect(accounts.contains("\"notes:read\"") && !accounts.contains("notes:write"), "\(accounts)")
        }
    }
}
