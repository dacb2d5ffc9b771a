import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// Runs every way to sign in, with what follows and with what can fail, at the most talkative level, and searches all
/// that was said and written for each secret that the server ever saw or gave, and for the keys.
@Suite struct FlowSweepTests {
    /// Options that make no other flow of these: what they say, not what is sent or kept.
    static let neutral: Set = [
        "--account", "--client-id", "--scope", "--redirect", "--ca-file", "--issuer", "--service", "--host", "--origin",
        "--force", "--for-host", "--client-auth", "--parameter", "--add-scope",
        // What it asks, it asks before there is a secret.
        "--resource",
        // Machines, whose tokens no person earns: MachineTests looks for what they are handed, and for their keys.
        "--grant", "--assertion-file", "--new-client-key", "--client-key-stdin",
        // The same flow, in another window or by another kind of address; both have tests of their own.
        "--ephemeral", "--scheme", "--any-scheme",
    ]

    /// One sweep: a flow, a store, and the format of its logs, or all of them in turn.
    struct Sweep: Sendable, CustomTestStringConvertible {
        let flow: SignInFlow
        let store: StoreUnderTest
        let format: String?

        var testDescription: String { "\(flow.testDescription), \(store), \(format ?? "all formats")" }

        /// Each flow with each store, the formats in turn; `LATCHKEY_LONG=1` has each flow with each store in each
        /// format.
        static let all = SignInFlow.all.flatMap { flow in
            StoreUnderTest.allCases.flatMap { store in
                let formats: [String?] =
                    runsLong ? FlowSession.formats : [nil]
                return formats.map { Sweep(flow: flow, store: store, format: $0) }
            }
        }
    }

    /// The hint of the ended session has no account.
    @Test func `at AT Protocol a sign-in without an account is the current account's`() async throws {
        let session = try await FlowSession(.atProtocol, .vault)
        try await session.run(["sign-in", "work"], 64...64)
        try await session.signIn()
        session.server.revokeEverything()
        let ended = try await session.run(session.request, 77...77)
        #expect(ended.errorText.contains("run `latchkey sign-in work`"))
        try await session.run(["sign-in", "work"])
        try await session.run(session.request)
    }

    @Test(arguments: Sweep.all)
    func `no method of signing in shows or stores a secret in the open, successful or not`(_ sweep: Sweep) async throws
    {
        let session = try await FlowSession(sweep.flow, sweep.store, format: sweep.format)
        let server = session.server
        server.switchOn(.status(400, sweep.flow.first))
        try await session.signIn(1...130)
        server.switchOffAllFaults()
        if sweep.flow.signedIn == ["--paste"] { try await session.signIn(1...130, as: .mistaken) }
        try await session.signIn()
        #expect(try await session.storedKeys().count == (sweep.flow.isBoundToKey ? 1 : 0))
        try await session.run(session.request)
        try await session.run(["token", "work"], isSecret: true)
        try await session.run(["run", "work", "--env", "TOKEN", "--", "true"])
        try await session.run(["accounts"])
        server.expireAccessTokens()
        server.switchOn(.status(503, .token))
        try await session.run(session.request, 1...130)
        server.switchOffAllFaults()
        try await session.run(session.request)
        server.switchOn(.status(503, .revocation))
        try await session.run(["sign-out", "work"], 0...130)
        // Whatever the flow, its secrets were among what is searched for.
        #expect(sweep.flow.secretNames.isSubset(of: Set(session.secrets().map(\.name))))
        try session.expectNothingFound()
    }

    @Test func `the sweep has every option that changes the flow`() async throws {
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
        let swept = Set(SignInFlow.all.flatMap { $0.added + $0.signedIn })
        #expect(options.subtracting(swept).subtracting(Self.neutral).isEmpty, "\(options.sorted())")
        #expect(swept.isSubset(of: options))
    }
}
