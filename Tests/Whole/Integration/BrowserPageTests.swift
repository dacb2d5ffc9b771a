import Foundation
import LatchkeyTestServer
import Testing
import TestServices

extension RealBrowser {
    /// How each page looks in a real browser: legible in light and dark, on a wide window and on a telephone, whole
    /// without anything from elsewhere.
    ///
    /// `LATCHKEY_SCREENSHOTS=/some/folder` leaves a picture of each there.
    @Suite(.serialized, .inChromium) struct PageTests {
        /// What a page is, as the browser lays it out.
        private struct Look: Decodable, Sendable {
            /// Of text on its background, the least on the page (WCAG 2.2 section 1.4.3).
            let leastContrast: Double
            /// The least relative luminance of a text's background, 0 for black.
            let leastLuminance: Double
            let overflow: Double
            let resources: [String]
            let language: String
            let title: String
            let heading: String
            /// Buttons at least 24 pixels each way (WCAG 2.2 section 2.5.8), and the ring of the one that has the
            /// focus.
            let smallestButton: Double
            let focusRing: Double
        }

        private static let measure = """
            const channels = color => color.match(/[\\d.]+/g).map(Number);
            const linear = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
            const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
            const opaque = color => color.length < 4 || color[3] === 1;
            const background = element => {
                for (let e = element; e; e = e.parentElement) {
                    const color = channels(getComputedStyle(e).backgroundColor);
                    if (opaque(color)) return color;
                }
                return [255, 255, 255];
            };
            let leastContrast = 21, leastLuminance = 1;
            for (const element of document.body.querySelectorAll('*')) {
                if (![...element.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
                const text = channels(getComputedStyle(element).color);
                if (!opaque(text)) throw new Error('translucent text');
                const [a, b] = [luminance(text), luminance(background(element))];
                leastContrast = Math.min(leastContrast, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
                leastLuminance = Math.min(leastLuminance, b);
            }
            const page = document.documentElement;
            const buttons = [...document.querySelectorAll('button')];
            let focusRing = 3;
            for (const button of buttons) {
                button.focus({focusVisible: true});
                const style = getComputedStyle(button);
                focusRing = Math.min(focusRing, style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth));
                button.blur();
            }
            return {
                leastContrast, leastLuminance, focusRing, overflow: page.scrollWidth - page.clientWidth,
                resources: performance.getEntriesByType('resource').map(entry => entry.name),
                language: page.lang, title: document.title, heading: document.querySelector('h1')?.innerText ?? '',
                smallestButton: Math.min(1000, ...buttons.flatMap(b => [b.offsetWidth, b.offsetHeight])),
            };
            """

        private let browser: HeadlessBrowser
        private let pictures = ProcessInfo.processInfo.environment["LATCHKEY_SCREENSHOTS"]

        init() throws { browser = try RealBrowser.browser() }

        /// Looks at a page in each way.
        private func look(
            at tab: BrowserTab, title: String, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            try await tab.wait(forTitle: title)
            for width in [1280, 360] {
                for scheme in BrowserTab.ColorScheme.allCases {
                    try await tab.show(scheme, width: width)
                    let look = try await tab.evaluate(Self.measure, as: Look.self)
                    let isGood =
                        look.leastContrast >= 4.5 && look.overflow <= 0 && look.resources.isEmpty
                        && look.language == "en"
                        && look.heading == look.title && look.smallestButton >= 24 && look.focusRing >= 2
                    #expect(isGood, "\(title), \(scheme), \(width): \(look)", sourceLocation: sourceLocation)
                    // The background of the one scheme can't be that of the other.
                    #expect(
                        scheme == .light ? look.leastLuminance > 0.07 : look.leastLuminance < 0.02,
                        "\(title), \(scheme): \(look)", sourceLocation: sourceLocation)
                    if let pictures {
                        let name = "\(title.filter { $0 != "/" && $0 != "?" }) \(scheme) \(width).png"
                        try await Data(tab.screenshot()).write(to: URL(fileURLWithPath: pictures + "/" + name))
                    }
                }
            }
        }

        @Test func `every page is legible in light and dark, wide and narrow, and loads nothing`() async throws {
            let flow = SignInFlow(
                testDescription: "browser, with a person", server: AuthorizationServerConfiguration(consent: .page))
            let session = try await FlowSession(flow, .vault, browser: browser.command)
            session.server.switchOn(.held(.token))
            try await session.signIn(in: browser) { tab, running in
                try await look(at: tab, title: "Let latchkey sign you in as octocat?")
                let items = URLComponents(string: try await tab.address())?.queryItems
                let redirect = try #require(items?.first { $0.name == "redirect_uri" }?.value)
                let receiver = try #require(URL(string: redirect))
                let second = try await browser.open(try await tab.address())

                let other = try await browser.open(redirect + "?code=forged&state=forged")
                try await look(at: other, title: "This isn't the response")
                let start = try #require(try browser.openedAddresses().last)
                try await other.visit(start)
                try await look(at: other, title: "This link was used already")
                try await other.visit(#require(URL(string: "/elsewhere", relativeTo: receiver)).absoluteString)
                try await look(at: other, title: "Nothing here")
                try await other.visit(session.server.authorizationEndpoint + "?client_id=nobody")
                try await look(at: other, title: "This sign-in request is not valid")

                try await tab.click("button[value=allow]")
                try await running.wait(for: "the code") { session.server.record.requests[.token] == 1 }
                try await second.click("button[value=allow]")
                try await look(at: second, title: "Answered already")
                session.server.switchOff(.held(.token))
                try await look(at: tab, title: "You are signed in")
            }
            try await session.signIn(in: browser, expecting: 77) { tab, _ in
                try await tab.click("button[value=deny]")
                try await look(at: tab, title: "You are not signed in")
            }
            let complaints = try await browser.complaints().filter { $0.level == "SEVERE" }.map(\.message)
            // A page whose status isn't 200 is a complaint of its own; nothing of the policy's is.
            #expect(complaints.allSatisfy { $0.contains("responded with a status of 4") }, "\(complaints)")
        }

        /// What the other tests see has come from this machine.
        @Test(arguments: ["http://example.org/", "http://192.0.2.1/"])
        func `the tests' browser connects to nothing else`(address: String) async throws {
            let tab = try await browser.open(address)
            try await tab.wait(forText: "ERR_NAME_NOT_RESOLVED")
            try await tab.close()
        }
    }
}
