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
            answer: Person.Answer = .consent
        ) async throws {
            let redirect = "http://127.0.0.1:\(try LoopbackPort.free())/callback"
            server = try await Glewlwyd(redirectURIs: [redirect], briefTokenSeconds: briefTokenSeconds)
            self.issuer = server.issuer(issuer)
            var person: Person?
            terminal = try await CommandLineSession(store) { directory in
                person = try Person(in: directory, answer: answer)
                return ["BROWSER": person?.browser ?? ""]
            }
            self.person = try #require(person)
            try await terminal.run(
                ["provider", "add", "work", "--issuer", self.issuer, "--client-id", Glewlwyd.nativeClient]
                    + ["--scope", "openid", "--scope", "offline_access", "--redirect", redirect])
        }

        func token() async throws -> [UInt8] {
            try await terminal.run(["token", "work"], outputIsSecret: true).output
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a sign-in is kept, used and ended, and nothing secret is said on the way`(store: StoreUnderTest) async throws
    {
        let setting = try await Setting(store)
        let terminal = setting.terminal
        try await terminal.run(["sign-in", "work"])

        let record = try setting.person.record()
        #expect(record.startedWith.contains("/go/"), "the browser is started without the state on its command line")
        #expect(record.asked("code_challenge_method") == "S256")
        #expect(record.asked("nonce") != nil)
        #expect(record.pageStatus == 200)

        let answer = try await terminal.run(["request", "work", "GET", setting.issuer + "/userinfo"])
        #expect(answer.outputText.contains("Alice Example"))
        let accounts = try await terminal.run(["accounts", "--json"])
        #expect(accounts.outputText.contains("work"))

        let token = try await setting.token()
        #expect(token.count > 100)
        #expect(try setting.server.accessTokensIssued(.hour) == 1, "a token that is still good is not renewed")

        try await terminal.run(["sign-out", "work"])
        #expect(try setting.server.refreshTokensRevoked(.hour) == 1)
        try await terminal.run(["token", "work"], expecting: 1)

        try Canaries(record: record, tokens: [token]).expectNone(in: terminal.transcript)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an expired token is renewed, and the next use takes the renewed one`(store: StoreUnderTest) async throws {
        let setting = try await Setting(store, issuer: .brief)
        try await setting.terminal.run(["sign-in", "work"])
        let first = try await setting.token()
        // The server gave it three seconds.
        try await Task.sleep(for: .seconds(4))
        let userinfo = ["request", "work", "GET", setting.issuer + "/userinfo"]
        #expect(try await setting.terminal.run(userinfo).outputText.contains("Alice Example"))
        let second = try await setting.token()
        #expect(first != second)
        #expect(try setting.server.accessTokensIssued(.brief) >= 2)
        try Canaries(record: setting.person.record(), tokens: [first, second])
            .expectNone(in: setting.terminal.transcript)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a person who says no leaves no session`(store: StoreUnderTest) async throws {
        let setting = try await Setting(store, answer: .deny)
        try await setting.terminal.run(["sign-in", "work"], expecting: 77)
        try await setting.terminal.run(["token", "work"], expecting: 1)
        #expect(try setting.server.accessTokensIssued(.hour) == 0)
        try Canaries(record: setting.person.record(), tokens: []).expectNone(in: setting.terminal.transcript)
    }

    @Test func `a browser that is closed is not waited for longer than asked`() async throws {
        let setting = try await Setting(.vault, answer: .close)
        try await setting.terminal.run(["sign-in", "work", "--timeout", "1"], expecting: 75)
    }

    /// Without the lease each process would spend the same refresh token, and the server would revoke the family.
    @Test(arguments: StoreUnderTest.allCases)
    func `many processes that find the token expired make one renewal`(store: StoreUnderTest) async throws {
        // A token of sixteen seconds is renewed in its last four.
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

    @Test func `a person without a browser here signs in by pasting the address where another one ended`() async throws
    {
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
        try Canaries(record: setting.person.record(), tokens: [token])
            .expectNone(in: setting.terminal.transcript, shown: terminal.shown)
    }
}
