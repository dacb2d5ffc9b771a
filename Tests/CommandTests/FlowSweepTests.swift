import AuthorizationServer
import Foundation
import RedactionAudit
import Secrets
import TestServices
import Testing

/// Runs every way to sign in, with what follows and with what can fail, at the most talkative level in each log format,
/// and searches all that was said and written for each secret that the server ever saw or gave.
@Suite struct FlowSweepTests {
    struct Flow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var added: [String] = []
        var signedIn: [String] = ["--browser"]
        var server = AuthorizationServerConfiguration()
        var clientSecret: [UInt8]?

        /// The endpoint that a fault is most telling at.
        var first: AuthorizationServerEndpoint {
            signedIn == ["--device"]
                ? .deviceAuthorization : server.pushedRequests == .none ? .token : .pushedAuthorization
        }
    }

    static let secret = Array("q7XwK2mVb9RtYpLz4HcNd8FsGjU1eAoI3rTyBnM6kQh".utf8)

    static let flows: [Flow] = [
        Flow(testDescription: "browser"),
        Flow(
            testDescription: "browser, with a client's secret", added: ["--client-secret-stdin"],
            server: AuthorizationServerConfiguration(clients: [
                RegisteredClient(
                    "latchkey", redirectURIs: ["http://127.0.0.1/callback", "http://[::1]/callback"],
                    secret: Secret<ClientSecret>(copying: secret.span))
            ]), clientSecret: secret),
        Flow(
            testDescription: "browser, bound to a key", added: ["--dpop"],
            server: AuthorizationServerConfiguration(dpopNonces: true, requiresDPoP: true)),
        Flow(
            testDescription: "browser, pushed", added: ["--par"],
            server: AuthorizationServerConfiguration(pushedRequests: .required)),
        Flow(
            testDescription: "browser, pushed, bound to a key", added: ["--par", "--dpop"],
            server: AuthorizationServerConfiguration(
                dpopNonces: true, requiresDPoP: true, pushedRequests: .required)),
        Flow(
            testDescription: "browser, registered", added: ["--register"],
            server: AuthorizationServerConfiguration(allowsRegistration: true)),
        Flow(testDescription: "paste", signedIn: ["--paste"]),
        Flow(
            testDescription: "another device", signedIn: ["--device"],
            server: AuthorizationServerConfiguration(offersDeviceGrant: true, deviceIntervalSeconds: 1)),
    ]

    /// Options that make no other flow of these: what they say, not what is sent or kept.
    static let neutral: Set = [
        "--account", "--client-id", "--scope", "--redirect", "--ca-file", "--issuer", "--service", "--host",
        // The same flow, in another window or by another kind of address; both have tests of their own.
        "--ephemeral", "--scheme", "--any-scheme",
        // Which servers an account of AT Protocol may lead to; that flow's log is searched in ATProtocolTests.
        "--development",
    ]

    // MARK: - A terminal

    private struct Terminal {
        let directory: TestDirectory
        let server: LoopbackAuthorizationServer
        let environment: [String: String]
        let format: String
        let audit = LeakAudit()

        init(_ flow: Flow, format: String) throws {
            directory = try TestDirectory()
            server = try LoopbackAuthorizationServer(flow.server)
            self.format = format
            var environment = try directory.environment()
            environment["LATCHKEY_KEY_FILE"] = directory / "key"
            environment["LATCHKEY_STORE"] = "vault"
            environment["BROWSER"] = try directory.write(
                "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n",
                mode: 0o700)
            self.environment = environment
        }

        @discardableResult
        func run(
            _ arguments: [String], input: [UInt8] = [], isSecret: Bool = false, _ statuses: ClosedRange<Int32> = 0...0
        ) async throws -> ProgramRun {
            let run = try await BuiltProducts.latchkey().run(
                arguments + ["--log-level", "trace", "--log-format", format], environment: environment, input: input)
            note(run, arguments, isSecret: isSecret)
            #expect(statuses.contains(run.status), "\(arguments): \(run.status)\n\(run.errorText)")
            return run
        }

        func note(_ run: ProgramRun, _ arguments: [String], isSecret: Bool = false) {
            let name = arguments.joined(separator: " ")
            audit.capture(run.errorOutput, as: "standard error of \(name)")
            if !isSecret { audit.capture(run.output, as: "standard output of \(name)") }
            // Nothing ordinary is taken for a secret.
            #expect(!run.errorText.contains("withheld"), "\(run.errorText)")
        }

        /// Signs in with a person at the terminal, where the flow needs one.
        func signIn(_ flow: Flow, _ statuses: ClosedRange<Int32> = 0...0) async throws {
            let arguments = ["sign-in", "work"] + flow.signedIn
            guard flow.signedIn != ["--browser"] else {
                try await run(arguments, statuses)
                return
            }
            let terminal = try PseudoTerminal()
            let running = try BuiltProducts.latchkey().start(
                arguments + ["--log-level", "trace", "--log-format", format], environment: environment,
                terminal: terminal)
            if statuses == 0...0 {
                if flow.signedIn == ["--paste"] {
                    try await paste(terminal, running)
                } else {
                    try await confirm(terminal, running)
                }
            }
            let run = try await running.finish()
            note(run, arguments)
            #expect(statuses.contains(run.status), "\(arguments): \(run.status)\n\(run.errorText)\(terminal.shown)")
        }

        private func paste(_ terminal: PseudoTerminal, _ running: RunningProgram) async throws {
            let address = try Regex("http://[^\\s]*code_challenge[^\\s]*")
            try await running.wait(for: "the address and the question") {
                terminal.shown.contains(address) && !terminal.echoes
            }
            let url = try #require(terminal.shown.firstMatch(of: address).map { String(terminal.shown[$0.range]) })
            let answer = try await Program("curl").run(
                ["--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{redirect_url}", url])
            terminal.type(answer.outputText + "\n")
        }

        private func confirm(_ terminal: PseudoTerminal, _ running: RunningProgram) async throws {
            let shown = /[ ]{8}([A-Z0-9]{4}-[A-Z0-9]{4})/
            try await running.wait(for: "the code") { terminal.shown.contains(shown) }
            let code = try #require(terminal.shown.firstMatch(of: shown)).output.1
            try await Program("curl").run(
                ["--silent", "--noproxy", "*", "--output", "/dev/null", "\(server.origin)/device?user_code=\(code)"])
                .successful("curl")
        }

        func expectNothingFound() throws {
            try server.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in
                if secret.byteCount >= LeakAudit.minimumByteCount { try audit.plant(secret) }
            }
            let key = try directory.read("key")
            try audit.plant(Secret<PrivateKey>(copying: key.span))
            for folder in ["home", "data", "config", "state", "cache", "tmp"] {
                try audit.capture(folder: directory / folder)
            }
            let report = audit.report()
            #expect(report.isClean, "\(report)")
            #expect(report.canaryCount >= 4 && report.streamCount >= 14, "\(report)")
        }
    }

    // MARK: - The sweep

    @Test(arguments: flows, ["text", "json"])
    func `no way to sign in says or keeps a secret in the open, whole or failing`(
        _ flow: Flow, _ format: String
    ) async throws {
        let terminal = try Terminal(flow, format: format)
        let server = terminal.server
        try await terminal.run(["vault", "init", "--key-file", terminal.directory / "key"])
        let client = flow.added.contains("--register") ? [] : ["--client-id", "latchkey"]
        try await terminal.run(
            ["provider", "add", "work", "--issuer", server.issuer, "--scope", "read", "--scope", "openid"] + client
                + flow.added, input: flow.clientSecret ?? [])
        server.switchOn(.status(400, flow.first))
        if flow.signedIn != ["--paste"] { try await terminal.signIn(flow, 1...130) }
        server.switchOffAllFaults()
        try await terminal.signIn(flow)
        let request = ["request", "work", "GET", server.userInfoEndpoint]
        try await terminal.run(request)
        try await terminal.run(["token", "work"], isSecret: true)
        try await terminal.run(["run", "work", "--env", "TOKEN", "--", "true"])
        try await terminal.run(["accounts"])
        server.expireAccessTokens()
        server.switchOn(.status(503, .token))
        try await terminal.run(request, 1...130)
        server.switchOffAllFaults()
        try await terminal.run(request)
        server.switchOn(.status(503, .revocation))
        try await terminal.run(["sign-out", "work"], 0...130)
        try terminal.expectNothingFound()
    }

    @Test func `every option that makes another flow is in the sweep`() async throws {
        let directory = try TestDirectory()
        var options: Set<String> = []
        for command in [["sign-in"], ["provider", "add"]] {
            let help = try await BuiltProducts.latchkey().run(
                command + ["--help"], environment: directory.environment()
            ).outputText
            let own = try #require(help.firstMatch(of: /\noptions:\n((?:  .*\n)+)/)).output.1
            for line in own.matches(of: /(?m)^  (--[a-z-]+)/) { options.insert(String(line.output.1)) }
        }
        #expect(options.count >= 15)
        let swept = Set(Self.flows.flatMap { $0.added + $0.signedIn })
        #expect(options.subtracting(swept).subtracting(Self.neutral).isEmpty, "\(options.sorted())")
        #expect(swept.isSubset(of: options))
    }
}
