import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeyOAuth
import LatchkeyTestServer
import Testing
import TestServices

@testable import LatchkeySignIn

/// The browser is a script that this test writes.
struct BrowserUserAgentTests {
    private let folder: TestDirectory
    private let server: ScriptedServer

    init() throws {
        folder = try TestDirectory()
        server = try ScriptedServer()
    }

    private func agent(_ browser: String, log: RedactedLogger = .disabled) throws -> BrowserUserAgent {
        let environment = ["BROWSER": browser, "PATH": "/usr/bin:/bin", "FOLDER": folder.path]
        return BrowserUserAgent(.programs(try BrowserChoice(environment: environment)), log: log)
    }

    private func signIn(
        _ agent: BrowserUserAgent, outcome: SignInOutcome = .signedIn, deadline: Deadline = .unhurried
    ) async throws {
        try await server.signIn(agent, outcome: outcome, deadline: deadline)
    }

    @Test func `a browser that follows the link signs in and shows the outcome`() async throws {
        let browser = try folder.script(
            "browser", "curl -sL -o \"$FOLDER/page\" \"$1\"; mv \"$FOLDER/page\" \"$FOLDER/shown\"")
        var agent = try agent(browser)
        agent.lastPageTimeout = .seconds(60)
        try await signIn(agent, outcome: .failed(cause: "the <store> is full", hint: nil))
        for _ in 0..<2000 where folder.text("shown") == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(folder.text("shown")?.contains("The &lt;store&gt; is full.") == true)
    }

    @Test func `the browser gets nothing of ours but the link`() async throws {
        let browser = try folder.script(
            "browser",
            """
            { echo "$@"; cat /proc/$$/environ | tr '\\0' '\\n'; } > "$FOLDER/given"
            ls -l /proc/$$/fd | grep -v ' 255 ' > "$FOLDER/descriptors"
            ps -o pid=,sid= -p $$ > "$FOLDER/session"
            curl -sL -o /dev/null "$1"
            """)
        // A descriptor that is not closed on exec, as a careless library leaves it.
        let leak = unsafe open("/etc/hostname", O_RDONLY)
        defer { close(leak) }
        try await signIn(agent(browser))
        let given = try #require(folder.text("given"))
        let state = try #require(server.queries.first?["state"])
        #expect(state.count == 43)
        #expect(!given.contains(state))
        #expect(given.contains("/go/"))
        let descriptors = try #require(folder.text("descriptors"))
        #expect(!descriptors.contains("hostname") && !descriptors.contains("socket:"))
        #expect(descriptors.components(separatedBy: "/dev/null").count == 4)
        let session = try #require(folder.text("session")).split(separator: " ").map {
            $0.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        #expect(session[0] == session[1])
    }

    @Test func `browsers are tried in order until one asks for the page`() async throws {
        let broken = try folder.script("broken", "echo broken >> \"$FOLDER/tried\"; exit 3")
        let works = try folder.script("works", "echo works >> \"$FOLDER/tried\"; curl -sL -o /dev/null \"$1\"")
        try await signIn(agent("/nonexistent/browser:\(broken):\(works) %s:\(broken)"))
        #expect(folder.text("tried") == "broken\nworks\n")
    }

    @Test func `without BROWSER the desktop's own opener is started`() async throws {
        _ = try folder.script("xdg-open", "echo \"$#\" > \"$FOLDER/count\"; curl -sL -o /dev/null \"$1\"")
        let environment = [
            "PATH": folder.path + ":/usr/bin:/bin", "FOLDER": folder.path, "WAYLAND_DISPLAY": "wayland-0",
        ]
        try await signIn(BrowserUserAgent(.programs(BrowserChoice(environment: environment))))
        #expect(folder.text("count") == "1\n")
    }

    @Test(arguments: [
        ("chromium", "--incognito"), ("firefox", "--private-window"), ("microsoft-edge", "--inprivate"),
    ])
    func `a private window is opened by the installed browser, and the sign-in goes through it`(
        name: String, option: String
    ) async throws {
        _ = try folder.script(
            name, "echo \"$1\" > \"$FOLDER/option\"; echo \"$#\" > \"$FOLDER/count\"; curl -sL -o /dev/null \"$2\"")
        // Only the stand-in may be found under a browser's name.
        _ = try folder.script("curl", "exec /usr/bin/curl \"$@\"")
        let environment = ["PATH": folder.path, "FOLDER": folder.path, "DISPLAY": ":0"]
        try await signIn(BrowserUserAgent(.programs(BrowserChoice(environment: environment, ephemeral: true))))
        #expect(folder.text("option") == option + "\n")
        #expect(folder.text("count") == "2\n")
    }

    @Test func `when no browser works the error says why and names paste`() async throws {
        let broken = try folder.script("broken", "exit 3")
        let failed = await #expect(throws: UserAgentError.self) { try await signIn(agent("nothing-here:\(broken)")) }
        #expect(failed == .unavailable(.browserFailed(status: 3)))
        let missing = await #expect(throws: UserAgentError.self) { try await signIn(agent("nothing-here")) }
        #expect(missing == .unavailable(.noBrowser(number: ENOENT)))
        #expect(missing?.recoveries == [.paste])
        let killed = try folder.script("killed", "kill -9 $$")
        await #expect(throws: UserAgentError.unavailable(.browserFailed(status: 137))) {
            try await signIn(agent(killed))
        }
    }

    // It used to be told as a person who didn't answer.
    @Test func `the error names a program that ends well and opens no page`() async throws {
        await #expect(throws: UserAgentError.pageNeverOpened) {
            try await signIn(agent("/bin/true"), deadline: .after(.milliseconds(300)))
        }
        #expect(UserAgentError.pageNeverOpened.hint?.text.contains("BROWSER") == true)
    }

    @Test func `the log contains nothing of the sign-in at its most detailed level`() async throws {
        let sink = MemoryLogSink()
        let browser = try folder.script(
            "browser", "curl -s \"${1%/go*}/callback?code=x&state=forged\"; curl -sL -o /dev/null \"$1\"")
        try await signIn(agent(browser, log: RedactedLogger("latchkey.sign-in", minimumLevel: .trace, sink: sink)))
        let state = try #require(server.queries.first?["state"])
        let lines = sink.records.map(\.message.text)
        #expect(lines.contains { $0.contains("ignored a response") })
        for line in lines {
            for secret in [state, "the-code", "forged"] { #expect(!line.contains(secret)) }
        }
    }

    @Test func `an adopter's own opener gets the link`() async throws {
        let follower = PageFollower(http: Fetched.http)
        try await signIn(
            BrowserUserAgent(.opener { link throws(UserAgentError) in try await follower.follow(link) }))
        #expect(server.queries.count == 1)
    }
}
