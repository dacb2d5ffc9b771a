internal import Foundation
internal import Synchronization

/// Debian's Chromium without a window: a profile, home and XDG directories of its own, no network beyond 127.0.0.1,
/// ended with the value.
///
/// Programs open pages in it through `command`, which is what `BROWSER` is set to: a browser that runs already gets the
/// address and shows it in a new tab. The test then does there what a person would. One test at a time: a browser has
/// one tab that it attends to.
public final class HeadlessBrowser: Sendable {
    public let directory: TestDirectory
    /// The program that opens an address in a new tab, and returns.
    public let command: String
    /// The pause between two looks at a page. Each look starts a program, which takes time from the page.
    static let pause = Duration.milliseconds(100)
    private let driver: RunningProgram
    private let session: WebDriver
    private let state = Mutex((known: Set<String>(), attended: ""))
    /// The tab that was there at the start, and stays.
    private let home: String

    /// Starts the browser and waits until it can be used.
    ///
    /// - Parameters:
    ///   - environment: what the browser runs in; by default it sees nothing but a directory of its own.
    ///   - handedOver: schemes by the origin that may leave them to the desktop without a question: what the person's
    ///     profile holds when they have ticked "always allow" there.
    public init(environment: [String: String]? = nil, handedOver: [String: [String]] = [:]) async throws {
        directory = try TestDirectory()
        let own = try directory.environment()
        let driver = try Program("chromedriver").start(["--port=0"], environment: environment ?? own)
        let started = /started successfully on port ([0-9]+)/
        try await driver.wait(for: "chromedriver's port") { driver.outputSoFar.contains(started) }
        guard let port = driver.outputSoFar.firstMatch(of: started)?.output.1 else {
            throw ServiceFailure("chromedriver has no port")
        }
        let server = WebDriver(base: "http://127.0.0.1:\(port)")
        let opened = try await server.call(
            "POST", "/session", try await Self.capabilities(directory / "profile", handedOver), as: Session.self)
        self.driver = driver
        session = WebDriver(base: server.base + "/session/" + opened.sessionId)
        home = try await session.call("GET", "/window", as: String.self)
        // Chromium listens on 127.0.0.1, whatever else localhost may be.
        let tools = opened.capabilities.options.debuggerAddress.replacing("localhost", with: "127.0.0.1")
        command = try directory.write(
            "browser",
            """
            #!/bin/sh
            printf '%s\\n' "$1" >>'\(directory / "opened")'
            exec curl --silent --show-error --fail --noproxy '*' --output /dev/null --request PUT "http://\(tools)/json/new?$1"

            """, mode: 0o700)
        state.withLock { $0.known = [home] }
    }

    deinit { driver.kill() }

    /// Closes the browser in order, so that its profile is written.
    public func stop() async {
        _ = try? await session.call("DELETE", "")
        await driver.stop()
    }

    private struct Session: Decodable, Sendable {
        struct Capabilities: Decodable, Sendable {
            struct Options: Decodable, Sendable { let debuggerAddress: String }

            let options: Options

            enum CodingKeys: String, CodingKey { case options = "goog:chromeOptions" }
        }

        let sessionId: String
        let capabilities: Capabilities
    }

    private static func capabilities(_ profile: String, _ handedOver: [String: [String]]) async throws -> [String: Any]
    {
        var arguments = [
            "--headless", "--user-data-dir=" + profile, "--no-first-run", "--disable-breakpad",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu",
            // A container's /dev/shm is often too small for it.
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--window-size=1280,800",
        ]
        if try await !hasSandbox() { arguments.append("--no-sandbox") }
        let pairs = handedOver.mapValues { schemes in
            Dictionary(uniqueKeysWithValues: schemes.map { ($0, true) })
        }
        let options: [String: Any] = [
            "args": arguments, "prefs": ["protocol_handler": ["allowed_origin_protocol_pairs": pairs]],
        ]
        let wanted: [String: Any] = [
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"],
            // A page may wait for what the test does next.
            "pageLoadStrategy": "none", "timeouts": ["implicit": 60_000],
        ]
        return ["capabilities": ["alwaysMatch": wanted]]
    }

    /// Chromium's sandbox wants an ordinary user who may make namespaces.
    private static func hasSandbox() async throws -> Bool {
        guard getuid() != 0 else { return false }
        return try await Program("unshare").run(["--user", "true"]).status == 0
    }

    // MARK: - Tabs

    /// The tabs that came since the last time somebody asked.
    private func newHandles() async throws -> Set<String> {
        let handles = Set(try await session.call("GET", "/window/handles", as: [String].self))
        return state.withLock { state in
            let new = handles.subtracting(state.known)
            state.known = handles
            return new
        }
    }

    /// Waits until a program has opened a page.
    public func newTab() async throws -> BrowserTab {
        let limit = ContinuousClock.now + .seconds(120)
        while true {
            if let handle = try await newHandles().first { return BrowserTab(browser: self, handle: handle) }
            guard ContinuousClock.now < limit else { throw ServiceFailure("no page was opened in Chromium") }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Opens an address in a new tab, as the person does.
    public func open(_ address: String) async throws -> BrowserTab {
        struct New: Decodable, Sendable { let handle: String }

        let new = try await attend(home).call("POST", "/window/new", ["type": "tab"], as: New.self)
        state.withLock { state in _ = state.known.insert(new.handle) }
        let tab = BrowserTab(browser: self, handle: new.handle)
        try await tab.visit(address)
        return tab
    }

    /// The addresses that were given to `command`, the first one first.
    public func openedAddresses() throws -> [String] {
        String(decoding: try directory.read("opened"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The pages that the person finds in the list of those they visited. Only after `stop()`.
    ///
    /// The profile's file has the redirects on the way there too, which no list shows.
    public func history() async throws -> [String] {
        // 0x20000000: the end of a chain of redirects (Chromium, ui/base/page_transition_types.h).
        let shown = "SELECT urls.url FROM urls JOIN visits ON visits.url = urls.id WHERE visits.transition & 0x20000000"
        return try await Program("sqlite3").run(["-readonly", directory / "profile/Default/History", shown])
            .successful("sqlite3").outputText.split(separator: "\n").map(String.init)
    }

    /// What the browser complained about since the last time, as its console says it.
    public func complaints() async throws -> [Complaint] {
        try await session.call("POST", "/se/log", ["type": "browser"], as: [Complaint].self)
            .filter { $0.level == "SEVERE" || $0.level == "WARNING" }
    }

    /// A line of the console.
    public struct Complaint: Decodable, Sendable {
        public let level: String
        public let message: String
    }

    /// Turns to a tab.
    func attend(_ handle: String) async throws -> WebDriver {
        if state.withLock({ $0.attended }) != handle {
            try await session.call("POST", "/window", ["handle": handle])
            state.withLock { $0.attended = handle }
        }
        return session
    }

    func isOpen(_ handle: String) async throws -> Bool {
        try await session.call("GET", "/window/handles", as: [String].self).contains(handle)
    }
}
