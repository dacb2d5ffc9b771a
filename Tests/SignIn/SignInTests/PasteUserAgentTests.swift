import LatchkeyCredentials
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import Synchronization
import Testing
import TestSecrets

@testable import LatchkeySignIn

/// A terminal that shows to an array and is answered by the test.
final class ScriptedTerminal: PromptTerminal {
    private let shown = Mutex<[String]>([])
    private let answers: Mutex<[@Sendable (_ url: String) async throws -> String?]>
    private let url = Mutex("")

    init(_ answers: [@Sendable (_ url: String) async throws -> String?]) {
        self.answers = Mutex(answers)
    }

    var lines: [String] { shown.withLock { $0 } }
    var address: String { url.withLock { $0 } }

    func show(_ line: LogMessage) async throws(PromptTerminalError) {
        shown.withLock { $0.append(line.text) }
    }

    func show(_ url: borrowing AuthorizationURL) async throws(PromptTerminalError) {
        let text = url.testText
        self.url.withLock { $0 = text }
    }

    func ask(
        _ question: LogMessage, limit: Int, deadline: Deadline
    ) async throws(PromptTerminalError) -> Secret<MessageBody> {
        guard let next = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { throw .dismissed }
        let text: String?
        do {
            text = try await next(address)
        } catch {
            throw .cancelled
        }
        guard let text else { throw .dismissed }
        if text.utf8.count > limit { throw .tooLong }
        return .test(text)
    }
}

struct PasteUserAgentTests {
    private func signIn(
        _ server: ScriptedServer, _ terminal: ScriptedTerminal, redirect: String = "http://127.0.0.1/callback",
        deadline: Deadline = .unhurried
    ) async throws {
        try await server.signIn(PasteUserAgent(terminal: terminal), RedirectURI(redirect), deadline: deadline)
    }

    /// Where the authorization page sends the browser.
    @Sendable private static func end(of url: String) async throws -> String {
        try #require(try await Fetched.get(url).location)
    }

    @Test func `the whole address at which the browser ended signs in`() async throws {
        let server = try ScriptedServer()
        let terminal = ScriptedTerminal([{ " " + (try await Self.end(of: $0)) + "#fragment \n" }])
        try await signIn(server, terminal)
        let redirect = try #require(server.queries.first?["redirect_uri"])
        #expect(redirect.hasPrefix("http://127.0.0.1:") && redirect.hasSuffix("/callback"))
        #expect(terminal.lines.contains { $0.contains(redirect) })
    }

    /// The path tells whose response it is; another server's, with our state, came to another one (RFC 9700 section
    /// 4.4).
    @Test func `the query alone, or another path, isn't a response`() async throws {
        let terminal = ScriptedTerminal([
            { String(try await Self.end(of: $0).drop { $0 != "?" }) },
            { String(try await Self.end(of: $0).drop { $0 != "?" }.dropFirst()) },
            { try await Self.end(of: $0).replacing("/callback", with: "/other/callback") },
            { try await Self.end(of: $0) },
        ])
        try await signIn(ScriptedServer(), terminal)
        #expect(terminal.lines.filter { $0.contains("Copy the whole address") }.count == 3)
    }

    @Test func `an address of more than 4,096 bytes signs in`() async throws {
        let code = String(repeating: "c", count: 9000)
        let server = try ScriptedServer { "\($0)?state=\($1)&code=\(code)" }
        try await signIn(server, ScriptedTerminal([{ try await Self.end(of: $0) }]))
    }

    @Test func `an invalid response, or another sign-in's, leads to another prompt`() async throws {
        let terminal = ScriptedTerminal([
            { _ in "" }, { _ in "hello" }, { $0 }, { _ in String(repeating: "x", count: 40_000) },
            { _ in "http://127.0.0.1:1/callback?code=x&state=y" },
            { try await Self.end(of: $0).replacing("state=", with: "state=x") },
            { try await Self.end(of: $0) },
        ])
        try await signIn(ScriptedServer(), terminal)
        #expect(terminal.lines.contains { $0.contains("another sign-in") })
        #expect(terminal.lines.contains { $0.contains("too long") })
        #expect(terminal.lines.filter { $0.contains("Copy the whole address") }.count == 3)
    }

    @Test func `a closed terminal is the person's refusal`() async throws {
        await #expect(throws: UserAgentError.userCancelled) {
            try await signIn(ScriptedServer(), ScriptedTerminal([{ _ in nil }]))
        }
    }

    @Test(arguments: ["", "no", String(repeating: "x", count: 40_000)])
    func `a terminal that never answers with a response ends the sign-in`(answer: String) async throws {
        let terminal = ScriptedTerminal(
            Array(repeating: { _ in answer }, count: 1000) + [{ try await Self.end(of: $0) }])
        await #expect(throws: UserAgentError.userCancelled) { try await signIn(ScriptedServer(), terminal) }
    }

    @Test func `the prompt ends at the deadline`() async throws {
        let answer = { @Sendable (_: String) async throws -> String? in
            try await Task.sleep(for: .milliseconds(1))
            return "no"
        }
        let endless = ScriptedTerminal(Array(repeating: answer, count: 100_000))
        await #expect(throws: UserAgentError.timedOut) {
            try await signIn(ScriptedServer(), endless, deadline: .after(.milliseconds(20)))
        }
    }

    @Test func `an adopter's own page or a private scheme can be pasted too`() async throws {
        for redirect in ["https://example.org/signed-in", "com.example.app:/callback"] {
            try await signIn(
                ScriptedServer(), ScriptedTerminal([{ try await Self.end(of: $0) }]), redirect: redirect)
        }
    }
}
