internal import Foundation

/// A page in a `HeadlessBrowser`, and what a person does with it.
public struct BrowserTab: Sendable {
    let browser: HeadlessBrowser
    let handle: String

    public func title() async throws -> String {
        try await browser.attend(handle).call("GET", "/title", as: String.self)
    }

    /// What stands in the address bar.
    public func address() async throws -> String {
        try await browser.attend(handle).call("GET", "/url", as: String.self)
    }

    /// All text that the page shows.
    public func text() async throws -> String { try await evaluate("return document.body.innerText", as: String.self) }

    /// Waits until the page with this title is there as a whole.
    public func wait(forTitle title: String) async throws {
        try await wait(for: title, "return document.readyState === 'complete' ? document.title : ''") { $0 == title }
    }

    /// Waits until the page shows a text somewhere.
    public func wait(forText text: String) async throws {
        try await wait(for: text, "return document.body?.innerText ?? ''") { $0.contains(text) }
    }

    private func wait(for what: String, _ script: String, until isThere: (String) -> Bool) async throws {
        let limit = ContinuousClock.now + .seconds(120)
        var last = ""
        while !isThere(last) {
            guard ContinuousClock.now < limit else {
                throw ServiceFailure("Chromium never showed \"\(what)\", but \"\(last)\":\n\(try await text())")
            }
            try await Task.sleep(for: HeadlessBrowser.pause)
            do {
                last = try await evaluate(script, as: String.self)
            } catch let failure as ServiceFailure {
                // A page that goes while it is asked says so.
                last = failure.description
            }
        }
    }

    /// Waits until the tab is gone.
    public func waitUntilClosed() async throws {
        let limit = ContinuousClock.now + .seconds(120)
        while try await browser.isOpen(handle) {
            guard ContinuousClock.now < limit else { throw ServiceFailure("the tab stays open") }
            try await Task.sleep(for: HeadlessBrowser.pause)
        }
    }

    /// Goes to an address, as one types it, and doesn't wait for the page.
    public func visit(_ address: String) async throws {
        try await browser.attend(handle).call("POST", "/url", ["url": address])
    }

    public func close() async throws {
        try await browser.attend(handle).call("DELETE", "/window")
    }

    // MARK: - Elements

    /// Clicks the first element that a CSS selector finds, where a person could.
    public func click(_ selector: String) async throws {
        try await browser.attend(handle).call("POST", element(selector) + "/click")
    }

    /// Types into a field.
    public func type(_ text: String, into selector: String) async throws {
        try await browser.attend(handle).call("POST", element(selector) + "/value", ["text": text])
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await browser.attend(handle).call(
            "POST", "/element", ["using": "css selector", "value": selector], as: [String: String].self)
        guard let identifier = found.values.first else { throw ServiceFailure("no element \(selector)") }
        return "/element/" + identifier
    }

    /// Runs a function's body in the page, beside the page's own scripts and their policy, and takes what it returns.
    public func evaluate<Value: Decodable & Sendable>(_ script: String, as type: Value.Type) async throws -> Value {
        try await browser.attend(handle).call("POST", "/execute/sync", ["script": script, "args": [Any]()], as: type)
    }

    // MARK: - How the page is looked at

    public enum ColorScheme: String, Sendable, CaseIterable { case light, dark }

    /// Shows the page in this scheme, in a window of this width in CSS pixels.
    public func show(_ scheme: ColorScheme, width: Int) async throws {
        let tools = try await browser.attend(handle)
        try await tools.tool(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": scheme.rawValue]]])
        try await tools.tool(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": 640, "deviceScaleFactor": 1, "mobile": false])
    }

    /// Lets no page in this tab run scripts from now on; what the test itself evaluates still runs.
    public func forbidScripts() async throws {
        try await browser.attend(handle).tool("Emulation.setScriptExecutionDisabled", ["value": true])
    }

    /// A PNG of what is to be seen.
    public func screenshot() async throws -> [UInt8] {
        let text = try await browser.attend(handle).call("GET", "/screenshot", as: String.self)
        guard let image = Data(base64Encoded: text) else { throw ServiceFailure("the screenshot is no base64") }
        return [UInt8](image)
    }

    /// Where "back" and "forward" lead.
    public func trail() async throws -> [String] {
        struct Trail: Decodable, Sendable {
            struct Entry: Decodable, Sendable { let url: String }

            let entries: [Entry]
        }
        return try await browser.attend(handle).call(
            "POST", "/goog/cdp/execute", ["cmd": "Page.getNavigationHistory", "params": [String: Any]()],
            as: Trail.self
        ).entries.map(\.url)
    }
}
