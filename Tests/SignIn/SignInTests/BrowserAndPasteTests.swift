import Foundation
import LatchkeyCredentials
import LatchkeyOAuth
import LatchkeySystem
import Synchronization
import LatchkeyTestServer
import Testing

@testable import LatchkeySignIn

/// A browser and a terminal that answer when the test lets them.
struct BrowserAndPasteTests {
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer()
    }

    private func signIn(
        _ terminal: ScriptedTerminal, deadline: Deadline = .unhurried, opener: @escaping BrowserUserAgent.Opener
    ) async throws {
        let agent = BrowserAndPasteUserAgent(.opener(opener), terminal: terminal)
        try await server.signIn(agent, deadline: deadline)
    }

    /// Follows the link as a browser does, to the page that says how it ended.
    @Sendable private static func browse(_ link: String) async throws(UserAgentError) {
        try await PageFollower(http: Fetched.http).follow(link)
    }

    /// Where the authorization page sends a browser on another machine.
    @Sendable private static func end(of url: String) async throws -> String {
        try #require(try await Fetched.get(url).location)
    }

    /// A person who never gets to paste, as long as the question stands.
    @Sendable private static func nothing(_ url: String) async throws -> String? {
        try await Task.sleep(for: .seconds(600))
        return nil
    }

    @Test func `the browser's response ends the prompt at the terminal`() async throws {
        let asked = Pending<Bool>()
        let terminal = ScriptedTerminal([
            { url in
                asked.complete(true)
                return try await Self.nothing(url)
            }
        ])
        try await signIn(terminal) { link throws(UserAgentError) in
            _ = await asked.value()
            try await Self.browse(link)
        }
        #expect(terminal.address.contains("/authorize?"))
    }

    @Test func `a pasted response ends the listener, and the browser finds it closed`() async throws {
        let terminal = ScriptedTerminal([{ try await Self.end(of: $0) }])
        let links = Mutex<[String]>([])
        let opened = Pending<Bool>()
        try await signIn(terminal) { link in
            links.withLock { $0.append(link) }
            opened.complete(true)
        }
        _ = await opened.value()
        let link = try #require(links.withLock { $0.first })
        await #expect(throws: (any Error).self) { try await Fetched.get(link) }
    }

    @Test func `a pasted response of another sign-in is reported as such, and the listener continues`() async throws {
        let wrong = Pending<Bool>()
        let terminal = ScriptedTerminal([
            { url in
                let address = try await Self.end(of: url)
                return try #require(URLComponents(string: address)?.string).replacing("state=", with: "state=x")
            },
            { url in
                wrong.complete(true)
                return try await Self.nothing(url)
            },
        ])
        try await signIn(terminal) { link throws(UserAgentError) in
            _ = await wrong.value()
            try await Self.browse(link)
        }
        #expect(terminal.lines.contains { $0.contains("belongs to another sign-in") })
    }

    @Test func `a missing browser doesn't end the sign-in: paste works`() async throws {
        let failed = Pending<Bool>()
        let terminal = ScriptedTerminal([
            { url in
                _ = await failed.value()
                return try await Self.end(of: url)
            }
        ])
        try await signIn(terminal) { _ throws(UserAgentError) in
            failed.complete(true)
            throw .unavailable(.noBrowser(number: 2))
        }
    }

    @Test func `without any browser to start, a forwarded port still brings the response`() async throws {
        let terminal = ScriptedTerminal([Self.nothing])
        let agent = BrowserAndPasteUserAgent(nil, terminal: terminal)
        let attempt = try await agent.begin(.loopback(path: "/callback"))
        let pending = try server.begin(attempt.redirect)
        async let elsewhere: Void = {
            while terminal.address.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            try await Self.browse(terminal.address)
        }()
        let response = try await attempt.present(
            pending.authorizationURL(), gate: pending.responseGate(), deadline: .unhurried)
        _ = try pending.validate(response)
        await attempt.finish(.signedIn)
        try await elsewhere
    }

    @Test func `closing the question cancels the sign-in`() async throws {
        await #expect(throws: UserAgentError.userCancelled) {
            try await signIn(ScriptedTerminal([{ _ in nil }])) { _ in }
        }
    }

    @Test func `the deadline passes without a response`() async throws {
        await #expect(throws: UserAgentError.timedOut) {
            try await signIn(ScriptedTerminal([Self.nothing]), deadline: .after(.milliseconds(200))) { _ in }
        }
    }

    @Test func `a cancelled task ends listener and prompt`() async throws {
        let asked = Pending<Bool>()
        let terminal = ScriptedTerminal([
            { url in
                asked.complete(true)
                return try await Self.nothing(url)
            }
        ])
        let task = Task { try await signIn(terminal) { _ in } }
        _ = await asked.value()
        task.cancel()
        await #expect(throws: UserAgentError.cancelled) { try await task.value }
    }
}
