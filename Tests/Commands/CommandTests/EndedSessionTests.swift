import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// What a person reads whose session the server has ended, or who named the wrong account.
@Suite struct EndedSessionTests {
    private let scene: RefreshScene

    init() async throws { scene = try await RefreshScene() }

    /// The server has ended the session, and a request has noticed it.
    private func endSession() async throws {
        scene.server.expireAccessTokens()
        scene.server.revokeEverything()
        let run = try await BuiltProducts.latchkey().run(scene.request, environment: scene.environment)
        #expect(run.status == 77 && run.errorText == Self.ended, "\(run.errorText)")
    }

    private static let ended = """
        latchkey: error: your session at work has ended [sign-in.session-ended]
        latchkey: hint: run `latchkey sign-in work`

        """

    @Test func `each command with an ended session says how to continue, until the next sign-in`() async throws {
        try await endSession()
        for command in [
            ["token", "work"], ["request", "work", "/"], ["run", "work", "--", "true"], ["token", "work"],
        ] {
            let run = try await BuiltProducts.latchkey().run(command, environment: scene.environment)
            #expect(run.status == 77 && run.output.isEmpty)
            #expect(run.errorText == Self.ended, "\(command)")
        }
        let named = try await scene.run("token", "work", "--account", "octocat")
        #expect(named.errorText.hasSuffix("\nlatchkey: hint: run `latchkey sign-in work --account octocat`\n"))
        try await scene.run("sign-in", "work").successful("sign-in")
        #expect(try await scene.run("token", "work").status == 0)
        let accounts = try await scene.run("accounts").successful("accounts").outputText
        #expect(!accounts.contains("ended"), "\(accounts)")
        #expect(try await !scene.run("list", "--all").outputText.contains("ended"))
    }

    /// The next command took the only account that was left, and a sign-out ended its session.
    @Test func `after the current account's session has ended, no command works as another account`() async throws {
        let scene = try await RefreshScene(
            signsIn: false, configuration: AuthorizationServerConfiguration(accessTokenLifetime: .zero))
        try await scene.run("sign-in", "work", "--account", "second").successful("sign-in")
        scene.server.revokeEverything()
        try await scene.run("sign-in", "work").successful("sign-in")
        try await scene.run("use", "work", "second").successful("use")
        let count = scene.server.record.refreshes
        for command in [
            ["token", "work"], ["request", "work", "DELETE", "/"], ["token", "work", "--json"],
            ["helper", "headers", "work"], ["run", "work", "--", "true"],
        ] {
            let run = try await BuiltProducts.latchkey().run(command, environment: scene.environment)
            #expect(run.status == 77 && run.output.isEmpty, "\(command) \(run.errorText)")
            #expect(run.errorText.contains("your session at work has ended"), "\(run.errorText)")
        }
        let out = try await scene.run("sign-out", "work").successful("sign-out").errorText
        #expect(out.contains("the server had ended the session of second"), "\(out)")
        #expect(scene.server.record.refreshes == count)
        // Who signs out takes it away, and one account is left.
        try await scene.run("token", "work").successful("token")
    }

    @Test func `accounts marks an ended session, and lists the known ends of others`() async throws {
        let active = try await scene.run("accounts").successful("accounts").outputText
        #expect(
            active.contains(/octocat  yes      token 20\d\d-\d\d-\d\d \d\d:\d\d UTC, refreshes itself  read/),
            "\(active)")
        try await endSession()
        let ended = try await scene.run("accounts").successful("accounts").outputText
        #expect(ended.contains(/octocat  yes      ended 20\d\d-\d\d-\d\d \d\d:\d\d UTC/), "\(ended)")
        let json = try await scene.run("accounts", "--json").successful("accounts").outputText
        #expect(json.contains(#""state": "ended""#) && json.contains(#""current": true"#), "\(json)")
    }

    @Test func `a check finds ended sessions, says how to continue, and fails for them only`() async throws {
        // Each token has ended when it comes, so that each check refreshes.
        let scene = try await RefreshScene(
            configuration: AuthorizationServerConfiguration(accessTokenLifetime: .zero))
        let good = try await scene.run("accounts", "--check")
        #expect(good.status == 0 && good.output.isEmpty && good.errorOutput.isEmpty, "\(good.errorText)")
        #expect(scene.server.record.refreshes == 1)
        let (unit, folder) = (try unitCommand(), scene.directory)
        let environment = scene.environment.merging(["ON_END": "touch \(folder / "told") 'the end'"]) { $1 }
        try await Program("sh").run(["-c", unit], environment: environment, folder: folder.path).successful("the unit")
        #expect(!FileManager.default.fileExists(atPath: folder / "told"))
        // Nobody has noticed yet that the server has ended the session.
        scene.server.revokeEverything()
        try await scene.run("sign-in", "work", "--account", "second").successful("sign-in")
        for _ in 0..<2 {
            let run = try await scene.run("accounts", "--check")
            #expect(run.status == 77, "\(run.errorText)")
            #expect(run.outputText == "work work ended: latchkey sign-in work --account work\n")
        }
        let json = try await scene.run("accounts", "--check", "--json")
        #expect(json.status == 77 && json.outputText.contains(#""account": "work""#))
        #expect(!json.outputText.contains("second"))
        try await Program("sh").run(["-c", unit], environment: environment, folder: folder.path).successful("the unit")
        #expect(FileManager.default.fileExists(atPath: folder / "told"))
        #expect(FileManager.default.fileExists(atPath: folder / "the end"))
    }

    @Test func `a check that the server doesn't answer says so, and fails`() async throws {
        let scene = try await RefreshScene(
            configuration: AuthorizationServerConfiguration(accessTokenLifetime: .zero))
        scene.server.switchOn(.status(503, .token))
        let run = try await scene.run("accounts", "--check")
        #expect(run.status == 75 && run.output.isEmpty)
        #expect(
            run.errorText == """
                latchkey: warning: can't check whether the session of work at work has ended
                latchkey: hint: see why: latchkey token work --account work

                """)
    }

    /// What the packaged unit runs, with the program that was built.
    private func unitCommand() throws -> String {
        let file = TestData.package.appendingPathComponent(".packaging/systemd/user/latchkey-check.service")
        let unit = try String(contentsOf: file, encoding: .utf8)
        let match = try #require(unit.firstMatch(of: /ExecStart=(.+)/))
        return try String(match.output.1).replacing("/usr/bin/latchkey", with: BuiltProducts.latchkey().path)
            .replacing("$$", with: "$")
    }

    @Test func `the end of a token is shown in local time, with the zone`() async throws {
        var environment = scene.environment
        environment["TZ"] = "XYZ-9"
        let run = try await BuiltProducts.latchkey().run(["accounts"], environment: environment)
        #expect(run.outputText.contains(/token 20\d\d-\d\d-\d\d \d\d:\d\d XYZ, refreshes itself/), "\(run.outputText)")
    }

    @Test func `a 400 without details probably means that the session has ended`() async throws {
        // Tokens that have ended when they come, so that each command refreshes them.
        let scene = try await RefreshScene(
            signsIn: false, configuration: AuthorizationServerConfiguration(accessTokenLifetime: .zero))
        try await scene.run("sign-in", "work", "--account", "Ada Lovelace").successful("sign-in")
        scene.server.switchOn(.status(400, .token))
        let run = try await scene.run("token", "work")
        #expect(run.status == 77)
        let check = try await scene.run("accounts", "--check")
        #expect(
            check.status == 77
                && check.outputText
                    == "work Ada Lovelace expired: latchkey sign-in work --account 'Ada Lovelace'\n",
            "\(check.outputText)")
        #expect(
            run.errorText == """
                latchkey: error: your session at work has probably ended: the server refused to refresh it (status 400) \
                [oauth.exchange-failed]
                latchkey: hint: run `latchkey sign-in work`

                """)
        // It may have been something else: the session is still there.
        scene.server.switchOffAllFaults()
        #expect(try await scene.run("token", "work").status == 0)
    }

    @Test func `a sign-out of an ended session reports the deletion and the server's earlier response`() async throws {
        try await endSession()
        let out = try await scene.run("sign-out", "work").successful("sign-out").errorText
        #expect(out.contains("the server had ended the session of octocat, as it said at 20"), "\(out)")
        #expect(out.contains("its tokens were deleted then"))
        let again = try await scene.run("sign-out", "work")
        #expect(again.status == 1)
        #expect(
            again.errorText == """
                latchkey: error: no account is signed in at "work" [sign-in.not-signed-in]

                """)
        #expect(try await scene.run("list", "--all").output.isEmpty)
    }

    @Test func `a sign-out that the server refuses reports that the session was deleted anyway`() async throws {
        scene.server.switchOn(.status(500, .revocation))
        let run = try await scene.run("sign-out", "work")
        #expect(run.status == 69)
        let lines = run.errorText.split(separator: "\n")
        #expect(lines.first == "latchkey: the session of octocat was deleted")
        #expect(
            lines.dropFirst().first?.hasPrefix(
                "latchkey: error: the tokens weren't revoked and may still work: ") == true, "\(run.errorText)")
        #expect(try await scene.run("accounts").output.isEmpty)
    }

    /// It said that nothing was changed.
    @Test func `a sign-out that can't delete the session says that its tokens were revoked`() async throws {
        let run = try await Program("bash").run(
            [
                "-c", "(trap '' XFSZ; ulimit -f 0; exec \"$0\" sign-out work) 2>&1 | cat",
                try BuiltProducts.latchkey().path,
            ],
            environment: scene.environment)
        #expect(
            run.outputText.contains("error: the tokens were revoked, but the session couldn't be deleted: "),
            "\(run.outputText)")
        #expect(run.outputText.contains("hint: run `latchkey sign-out` again once the store can be written"))
        #expect(scene.server.record.revocations >= 1)
        #expect(try await scene.run("accounts").outputText.contains("octocat"))
    }

    @Test func `a sign-out reports the outcome for session and tokens to programs`() async throws {
        let run = try await scene.run("sign-out", "work", "--json").successful("sign-out")
        #expect(
            run.outputText == """
                {
                  "provider": "work",
                  "account": "octocat",
                  "session": "deleted",
                  "tokens": "revoked"
                }

                """)
        #expect(run.errorOutput.isEmpty)
    }

    @Test func `sign-out everywhere forgets ended sessions too`() async throws {
        try await endSession()
        let run = try await scene.run("sign-out", "--everywhere").successful("sign-out")
        #expect(run.errorText.contains("latchkey: work octocat: the server had ended the session"), "\(run.errorText)")
        #expect(try await scene.run("accounts").output.isEmpty)
    }

    @Test func `the error for a wrong account lists the signed-in accounts`() async throws {
        try await scene.run("sign-in", "work", "--account", "second").successful("sign-in")
        for command in [
            ["token", "work", "--account", "bob"], ["use", "work", "bob"], ["sign-out", "work", "--account", "bob"],
        ] {
            let run = try await BuiltProducts.latchkey().run(command, environment: scene.environment)
            #expect(run.status == 1)
            #expect(
                run.errorText == """
                    latchkey: error: account "bob" isn't signed in at "work" [sign-in.not-signed-in]
                    latchkey: hint: signed in there: octocat, second

                    """, "\(command)")
        }
    }

    @Test func `if several accounts exist and none is current, the hint lists them`() async throws {
        try await scene.run("sign-in", "work", "--account", "second").successful("sign-in")
        try await scene.run("sign-in", "work", "--account", "third").successful("sign-in")
        try await scene.run("sign-out", "work").successful("sign-out")
        let run = try await scene.run("token", "work")
        #expect(run.status == 64)
        #expect(
            run.errorText == """
                latchkey: error: several accounts are signed in and none is the current one \
                [sign-in.no-current-account]
                latchkey: hint: add --account, or run `latchkey use work ACCOUNT`: octocat, second

                """)
    }

    @Test func `after the server refuses a redirect, the hint says what to register, or the option to set it`()
        async throws
    {
        let client = RegisteredClient("latchkey", redirectURIs: ["http://127.0.0.1/registered"])
        let scene = try await RefreshScene(
            signsIn: false,
            configuration: AuthorizationServerConfiguration(clients: [client], pushedRequests: .required))
        let run = try await scene.run("sign-in", "work")
        #expect(run.status == 77, "\(run.errorText)")
        #expect(
            run.errorText.contains(
                /hint: compare these .*client ID latchkey, redirect URI http:\/\/127\.0\.0\.1\/[\w-]+\/callback \(any port\)/
            ),
            "\(run.errorText)")
        #expect(run.errorText.contains("or add --redirect with the registered one"))
        // What the hint says helps.
        try await scene.run("sign-in", "work", "--redirect", "http://127.0.0.1/registered").successful("sign-in")
    }

    @Test func `a provider with nothing but an ended session can be removed, and leaves nothing`() async throws {
        try await endSession()
        let run = try await scene.run("provider", "remove", "work", "--json").successful("provider remove")
        #expect(run.outputText == "{\n  \"provider\": \"work\",\n  \"change\": \"removed\"\n}\n")
        #expect(try await scene.run("list", "--all").output.isEmpty)
    }
}
