import Foundation
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestServices

/// What a server, a person or a browser can do wrong, through the programs that were built: an error with its code, a
/// hint where there is a next step, the exit status of its kind, and a store as it was.
@Suite struct FaultySignInTests {
    private let directory: TestDirectory
    private let server: LoopbackAuthorizationServer
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(login: "ada", dpopNonces: true))
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write("browser", Self.browser(openings: 1), mode: 0o700)
        environment["TWO_BROWSERS"] = try directory.write("two-browsers", Self.browser(openings: 2), mode: 0o700)
        environment["NO_BROWSER"] = try directory.write("no-browser", "#!/bin/sh\n", mode: 0o700)
        self.environment = environment
        try await run(["vault", "init", "--key-file", directory / "key"]).successful("vault init")
        for (name, options) in [("bearer", []), ("bound", ["--dpop"])] {
            try await run(
                ["provider", "add", name, "--issuer", server.issuer, "--client-id", "latchkey"]
                    + ["--scope", "read", "--scope", "openid"] + options
            ).successful("provider add")
            try await run(["sign-in", name]).successful("sign-in")
        }
    }

    @Test(arguments: [([], 1, 0), (["--client-auth", "post"], 0, 1), (["--client-auth", "basic"], 1, 0)])
    func `a sign-in takes the client's secret from standard input`(
        _ options: [String], _ basic: Int, _ post: Int
    ) async throws {
        let secret = "q8Zp3vK1xW6tR0mY5bN2"
        let server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(clients: [
                RegisteredClient(
                    "mine", redirectURIs: ["http://127.0.0.1/*"], secret: Secret(copying: Array(secret.utf8).span))
            ]))
        func signIn(_ options: [String], _ input: String = "") async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(
                ["sign-in", "conf", "--issuer", server.issuer, "--client-id", "mine", "--scope", "read", "--browser"]
                    + options, environment: environment, input: Array(input.utf8))
        }
        // Without it the server refuses, and the hint says what to compare.
        let refused = try await signIn(["--account", "ada"])
        #expect(refused.status == 77, "\(refused.errorText)")
        #expect(
            refused.errorText.contains(
                "compare these with the client's page at the server: client ID mine, redirect URI"))
        #expect(refused.errorText.contains("add --client-secret-stdin"))
        let signed = try await signIn(["--account", "ada", "--client-secret-stdin"] + options, secret)
        #expect(signed.status == 0, "\(signed.errorText)")
        #expect(!signed.errorText.contains(secret))
        #expect(server.record.clientAuthentication[.basic, default: 0] == basic)
        #expect(server.record.clientAuthentication[.post, default: 0] == post)
        // The method is in the provider's file, for refreshes.
        #expect(try await run(["provider", "list", "--json"]).outputText.contains("client_secret_"))
        // A public sign-in doesn't send the stored secret.
        #expect(try await signIn(["--account", "ada", "--client-auth", "none"]).status == 77)
        #expect(server.record.clientAuthentication[.basic, default: 0] == basic)
        #expect(server.record.clientAuthentication[.post, default: 0] == post)
    }

    @Test(arguments: [([], 1, 1), (["--client-auth", "basic"], 1, 0), (["--client-auth", "post"], 0, 1)])
    func `a refused secret is sent by the other method unless --client-auth is set`(
        _ options: [String], _ basic: Int, _ post: Int
    ) async throws {
        let server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(clients: [
                RegisteredClient(
                    "mine", redirectURIs: ["http://127.0.0.1/*"], secret: Secret(copying: Array("other".utf8).span))
            ]))
        let run = try await BuiltProducts.latchkey().run(
            ["sign-in", "conf", "--issuer", server.issuer, "--client-id", "mine", "--scope", "read", "--browser"]
                + ["--account", "ada", "--client-secret-stdin"] + options, environment: environment,
            input: Array("q8Zp3vK1xW6tR0mY5bN2".utf8))
        #expect(run.status == 77, "\(run.errorText)")
        #expect(server.record.clientAuthentication[.basic, default: 0] == basic)
        #expect(server.record.clientAuthentication[.post, default: 0] == post)
    }

    private static func browser(openings: Int) -> String {
        let opening = "curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n"
        return "#!/bin/sh\n" + String(repeating: opening, count: openings)
    }

    /// Seconds in which a browser has come and gone, also where other tests keep the machine busy.
    private static let timeout = "20"

    private func run(_ arguments: [String], browser: String = "BROWSER") async throws -> ProgramRun {
        var environment = environment
        environment["BROWSER"] = environment[browser]
        return try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    /// All that can be shown of the store: items of every kind with the times of their last change, and the sessions.
    private func content() async throws -> String {
        try await run(["list", "--all", "--json"]).successful("list").outputText
            + run(["accounts", "--json"]).successful("accounts").outputText
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let fault: AuthorizationServerFault
        let status: Int32
        let code: String
        let hint: String
        var provider = "bearer"
        var options = ["--account", "grace"]

        var testDescription: String { "\(fault), \(provider)" }
    }

    private static let correct = "the server's operator has to fix it"
    private static let retry = "try again; if it fails again, \(correct)"
    private static let unbound =
        "add the provider again without --dpop, if tokens that work without the key are good enough"
    private static let network = "check the address and the network, then try again"
    private static let elsewhere =
        "the server redirects, and Latchkey doesn't follow that redirect; the server's operator has to fix it"
    private static let issuer = "set the issuer exactly as the server writes it, with or without a final slash"

    static let cases = [
        Case(
            fault: .metadataNamesAnotherIssuer, status: 76, code: "oauth.issuer-mismatch",
            hint: "if you trust that server, use the issuer "),
        Case(fault: .metadataWithout("token_endpoint"), status: 76, code: "oauth.invalid-metadata", hint: correct),
        Case(
            fault: .hugeBody(byteCount: 100 << 20, .metadata), status: 76, code: "oauth.invalid-metadata",
            hint: correct),
        Case(fault: .truncatedJSON(.metadata), status: 76, code: "oauth.invalid-metadata", hint: correct),
        Case(
            fault: .temporaryRedirect(.metadata), status: 76, code: "oauth.invalid-metadata",
            hint: "check the issuer: the server's documentation names it"),
        Case(fault: .noResponse(.metadata), status: 69, code: "http.connection-lost", hint: network),
        Case(fault: .status(500, .metadata), status: 69, code: "oauth.discovery-failed", hint: "try again later"),
        Case(fault: .wrongIssuer, status: 76, code: "oauth.issuer-mismatch", hint: issuer),
        Case(
            fault: .denied, status: 77, code: "oauth.access-denied",
            hint: "start the sign-in again, and consent on the server's page"),
        Case(fault: .unknownTokenType, status: 76, code: "oauth.invalid-response", hint: retry),
        Case(fault: .missingAccessToken, status: 76, code: "oauth.invalid-response", hint: retry),
        Case(fault: .temporaryRedirect(.token), status: 76, code: "oauth.exchange-failed", hint: elsewhere),
        Case(fault: .errorWithStatus200(.token), status: 77, code: "oauth.exchange-failed", hint: "sign in again"),
        Case(fault: .status(503, .token), status: 75, code: "oauth.exchange-failed", hint: "try again later"),
        Case(fault: .truncatedJSON(.token), status: 76, code: "oauth.invalid-response", hint: retry),
        Case(fault: .hugeBody(byteCount: 100 << 20, .token), status: 76, code: "oauth.invalid-response", hint: retry),
        Case(fault: .noResponse(.token), status: 69, code: "http.connection-lost", hint: network),
        Case(fault: .cutConnection(.token), status: 69, code: "http.connection-lost", hint: network),
        Case(fault: .wrongNonce, status: 76, code: "oauth.invalid-response", hint: retry),
        Case(
            fault: .missingIDToken, status: 76, code: "oauth.invalid-response",
            hint: "sign in without the scope openid, or switch on OpenID Connect for the client"),
        // Google's for a missing secret: a session had "probably ended" that there never was.
        Case(
            fault: .status(400, .token), status: 77, code: "oauth.exchange-failed",
            hint: "compare these with the client's page at the server: client ID latchkey"),
        Case(fault: .forgedIDToken, status: 76, code: "oauth.invalid-response", hint: retry),
        Case(fault: .symmetricIDToken, status: 76, code: "oauth.invalid-response", hint: retry),
        Case(fault: .status(500, .keySet), status: 69, code: "oauth.request-refused", hint: "try again later"),
        Case(
            fault: .bearerInsteadOfDPoP, status: 76, code: "oauth.invalid-response", hint: unbound, provider: "bound"),
        Case(
            fault: .unendingDPoPNonces, status: 77, code: "oauth.exchange-failed", hint: retry, provider: "bound"),
        Case(
            fault: .metadataWithoutES256, status: 76, code: "oauth.invalid-metadata", hint: unbound,
            provider: "bound"),
    ]

    @Test(arguments: cases)
    func `a server's fault is reported with a remedy, and the store is unchanged`(_ fault: Case) async throws {
        let before = try await content()
        server.switchOn(fault.fault)
        let run = try await run(["sign-in", fault.provider, "--timeout", "60"] + fault.options)
        #expect(run.status == fault.status, "\(run.errorText)")
        expect(run, code: fault.code, hint: fault.hint)
        server.switchOffAllFaults()
        #expect(try await content() == before)
        // Nothing stays in the way of the next one.
        try await self.run(["sign-in", fault.provider, "--account", "grace"]).successful("sign-in")
    }

    /// One error with its code at its end, then one hint, and nothing after it.
    private func expect(
        _ run: ProgramRun, code: String, hint: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let lines = run.errorText.split(separator: "\n").suffix(2)
        #expect(run.output.isEmpty, sourceLocation: sourceLocation)
        #expect(lines.first?.hasPrefix("latchkey: error: ") == true, "\(lines)", sourceLocation: sourceLocation)
        #expect(lines.first?.hasSuffix(" [\(code)]") == true, "\(lines)", sourceLocation: sourceLocation)
        #expect(lines.last?.hasPrefix("latchkey: hint: \(hint)") == true, sourceLocation: sourceLocation)
    }

    @Test(arguments: [AuthorizationServerFault.wrongState, .missingState])
    func `responses with another state are ignored, and reported if nothing else came`(
        _ fault: AuthorizationServerFault
    ) async throws {
        let before = try await content()
        server.switchOn(fault)
        let run = try await run(["sign-in", "bearer", "--account", "grace", "--timeout", Self.timeout])
        #expect(run.status == 76)
        expect(
            run, code: "oauth.state-mismatch",
            hint: "start the sign-in again, and answer only the browser page that it opens")
        #expect(
            run.errorText.contains(
                "ignored a response with another state; the sign-in still waits"
            ))
        #expect(try await content() == before)
    }

    @Test(arguments: [nil, .repeatedParameters] as [AuthorizationServerFault?])
    func `Latchkey waits for a silent browser, or one with invalid responses, until the deadline`(
        _ fault: AuthorizationServerFault?
    ) async throws {
        let before = try await content()
        if let fault { server.switchOn(fault) }
        let timeout = fault == nil ? "5" : Self.timeout
        let run = try await run(
            ["sign-in", "bearer", "--account", "grace", "--timeout", timeout],
            browser: fault == nil ? "NO_BROWSER" : "BROWSER")
        #expect(run.status == 75)
        #expect(run.errorText.contains("latchkey: waiting up to \(timeout) seconds for the browser\n"))
        // A program that opens nothing isn't a person who takes their time.
        if fault == nil {
            expect(
                run, code: "sign-in.page-never-opened",
                hint: "set BROWSER, or the desktop's default browser, to one that opens pages; "
                    + "or use --paste at a terminal to open the page on another machine")
        } else {
            let hint = try #require(
                run.errorText.firstMatch(
                    of: /\[sign-in\.timed-out\]\nlatchkey: hint: (.*); if the browser showed an error, compare (.*)\n$/)
            )
            #expect(hint.output.1 == "start the sign-in again, or raise --timeout")
            #expect(
                hint.output.2.contains(
                    /redirect URI http:\/\/127\.0\.0\.1\/[\w-]+\/callback \(any port\), or add --redirect/))
        }
        #expect(try await content() == before)
    }

    @Test func `the first of two browsers counts, and one code is exchanged`() async throws {
        let exchanged = server.record.codesExchanged
        try await run(["sign-in", "bearer", "--account", "grace"], browser: "TWO_BROWSERS").successful("sign-in")
        #expect(server.record.codesExchanged == exchanged + 1)
        #expect(server.record.replays == 0)
    }

    @Test func `revoked consent ends its own session, and no other`() async throws {
        server.expireAccessTokens()
        server.revokeEverything()
        let run = try await run(["request", "bearer", "GET", server.userInfoEndpoint])
        #expect(run.status == 77)
        expect(run, code: "sign-in.session-ended", hint: "run `latchkey sign-in bearer`")
        #expect(run.errorText.contains("your session at bearer has ended"))
        let again = try await self.run(["token", "bearer"])
        #expect(again.status == 77 && again.errorText == run.errorText)
        let accounts = try await self.run(["accounts"]).successful("accounts").outputText.split(separator: "\n")
        #expect(accounts.contains { $0.hasPrefix("bearer") && $0.contains("  ended 20") && $0.hasSuffix(" UTC") })
        #expect(accounts.contains { $0.hasPrefix("bound") && !$0.contains("ended") })
    }
}
