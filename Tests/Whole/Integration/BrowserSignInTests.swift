import Foundation
import LatchkeyTestServer
import Testing
import TestServices

extension RealBrowser {
    /// From `latchkey sign-in` through a real browser and back.
    @Suite(.serialized, .inChromium) struct SignInTests {
        private static let consent = "Let latchkey sign you in as octocat?"
        private let browser: HeadlessBrowser
        private let session: FlowSession

        init() async throws {
            browser = try RealBrowser.browser()
            let flow = SignInFlow(
                testDescription: "browser, with a person", server: AuthorizationServerConfiguration(consent: .page))
            session = try await FlowSession(flow, .vault, browser: browser.command)
        }

        private func expectNobody() async throws {
            let run = try await session.run(["token", "work"], isSecret: true, 1...1)
            #expect(run.errorText.contains("no account is signed in"))
            #expect(session.server.record.codesExchanged == 0)
        }

        /// Where the response of the sign-in is expected, as the page's address says it.
        private static func redirect(_ tab: BrowserTab) async throws -> String {
            let items = URLComponents(string: try await tab.address())?.queryItems
            return try #require(items?.first { $0.name == "redirect_uri" }?.value)
        }

        @Test func `a person consents and sees the success, and the browser's address keeps nothing`()
            async throws
        {
            try await session.signIn(in: browser) { tab, _ in
                #expect(try await tab.text().contains("It asks for: read, openid."))
                try await tab.click("button[value=allow]")
                try await tab.wait(forTitle: "You are signed in")
                #expect(try await tab.text().contains("You can close this page"))
                let address = try #require(URLComponents(string: try await tab.address()))
                #expect(address.path.hasPrefix("/done/") && address.query == nil)
                // Back leads to the server's own page, not to the response.
                let trail = try await tab.trail()
                #expect(!trail.contains { $0.contains("code=") || $0.contains("/callback") }, "\(trail)")
            }
            let started = try #require(try browser.openedAddresses().last)
            #expect(try #require(URLComponents(string: started)).path.hasPrefix("/go/"))
            #expect(try await session.run(session.request).outputText.contains("octocat"))
            try session.expectNothingFound()
            #expect(try await browser.complaints().filter { $0.level == "SEVERE" }.map(\.message) == [])
        }

        @Test func `a person who refuses sees that on the page and at the terminal, and nothing is stored`()
            async throws
        {
            let run = try await session.signIn(in: browser, expecting: 77) { tab, _ in
                // The pages are whole without scripts.
                try await tab.forbidScripts()
                try await tab.click("button[value=deny]")
                try await tab.wait(forTitle: "You are not signed in")
                #expect(try await tab.text().contains("Access was denied."))
            }
            #expect(run.errorText.contains("latchkey: error: access was denied"))
            #expect(!run.errorText.contains(LoopbackAuthorizationServer.prose))
            try await expectNobody()
            #expect(session.server.record.denials == 1)
        }

        @Test func `a response with another state is recognized, and the true response still counts`() async throws {
            try await session.signIn(in: browser) { tab, running in
                let redirect = try await Self.redirect(tab)
                for forged in ["?code=forged&state=forged", "?code=forged", "?error=access_denied&state=forged", ""] {
                    let other = try await browser.open(redirect + forged)
                    try await other.wait(forTitle: "This isn't the response")
                    try await other.close()
                }
                #expect(running.isRunning)
                #expect(session.server.record.requests[.token] == nil)
                try await tab.click("button[value=allow]")
                try await tab.wait(forTitle: "You are signed in")
            }
            #expect(session.server.record.codesExchanged == 1)
            try session.expectNothingFound()
        }

        @Test func `a server that responds with another state gets nothing, and the person can try again`()
            async throws
        {
            session.server.switchOn(.wrongState)
            try await session.signIn(in: browser) { tab, running in
                let address = try await tab.address()
                try await tab.click("button[value=allow]")
                try await tab.wait(forTitle: "This isn't the response")
                #expect(try await tab.text().contains("Latchkey ignored it"))
                #expect(running.isRunning)
                #expect(session.server.record.requests[.token] == nil)
                session.server.switchOff(.wrongState)
                try await tab.visit(address)
                try await tab.wait(forTitle: Self.consent)
                try await tab.click("button[value=allow]")
                try await tab.wait(forTitle: "You are signed in")
            }
            #expect(session.server.record.codesIssued == 2)
            #expect(session.server.record.codesExchanged == 1)
            try session.expectNothingFound()
        }

        @Test func `the first of two tabs counts, and the second tab says so`() async throws {
            session.server.switchOn(.held(.token))
            try await session.signIn(in: browser) { tab, running in
                // The same page once more, as a tab is duplicated.
                let second = try await browser.open(try await tab.address())
                try await second.wait(forTitle: Self.consent)
                try await tab.click("button[value=allow]")
                try await running.wait(for: "the code") { session.server.record.requests[.token] == 1 }
                try await second.click("button[value=allow]")
                try await second.wait(forTitle: "Answered already")
                session.server.switchOff(.held(.token))
                try await tab.wait(forTitle: "You are signed in")
            }
            #expect(session.server.record.codesIssued == 2)
            #expect(session.server.record.codesExchanged == 1)
            try session.expectNothingFound()
        }

        @Test func `a tab that closes without a response leaves the terminal waiting, and Ctrl-C ends the wait`()
            async throws
        {
            let terminal = try PseudoTerminal()
            let running = try BuiltProducts.latchkey().start(
                session.logging() + session.signIn, environment: session.environment, terminal: terminal)
            let tab = try await browser.newTab()
            try await tab.wait(forTitle: Self.consent)
            let redirect = try await Self.redirect(tab)
            try await tab.close()
            #expect(running.isRunning)
            terminal.type("\u{3}")
            let run = try await running.finish()
            #expect(run.status == 130, "\(run.errorText)")
            try await expectNobody()
            // Nobody listens there any more.
            let late = try await browser.open(redirect + "?code=late&state=late")
            try await late.wait(forTitle: "127.0.0.1")
            #expect(try await late.text().contains("ERR_CONNECTION_REFUSED"))
        }

        @Test func `a tab that showed only one page closes itself`() async throws {
            // A server that knows the person's consent responds without a page, so that the tab has one page alone.
            let flow = SignInFlow(testDescription: "browser, consented before")
            let session = try await FlowSession(flow, .vault, browser: browser.command)
            let running = try BuiltProducts.latchkey().start(
                session.logging() + session.signIn, environment: session.environment)
            let tab = try await browser.newTab()
            try await tab.waitUntilClosed()
            let run = try await running.finish()
            try session.note(run, session.signIn)
            #expect(run.status == 0, "\(run.errorText)")
            try session.expectNothingFound()
        }

        // MARK: - Browsers with a profile of their own

        /// What `BROWSER` names, before there is a browser whose environment is the session's.
        private static func stand(in directory: TestDirectory, for browser: HeadlessBrowser? = nil) throws -> String {
            let program = browser.map { "exec '\($0.command)' \"$1\"" } ?? "exit 1"
            return try directory.write("browser", "#!/bin/sh\n\(program)\n", mode: 0o700)
        }

        @Test func `the history holds neither code nor state of a request that was pushed`() async throws {
            var flow = SignInFlow.pushed
            flow.server.consent = .page
            let browser = try await HeadlessBrowser()
            let session = try await FlowSession(flow, .vault, browser: browser.command)
            try await session.signIn(in: browser) { tab, _ in
                try await tab.click("button[value=allow]")
                try await tab.wait(forTitle: "You are signed in")
            }
            await browser.stop()
            let history = try await browser.history()
            #expect(history.contains { $0.contains("/authorize?") } && history.contains { $0.contains("/done/") })
            for (name, bytes) in session.secrets() where name != "request_uri" {
                let secret = String(decoding: bytes, as: UTF8.self)
                #expect(!history.contains { $0.contains(secret) }, "\(name)")
            }
            try session.expectNothingFound()
        }

        @Test func `a response at a private-use scheme goes from the browser through the desktop to the sign-in`()
            async throws
        {
            let scheme = "com.example.latchkey"
            let redirect = scheme + ":/callback"
            let flow = SignInFlow(
                testDescription: "private-use scheme", added: ["--redirect", redirect], signedIn: ["--scheme"],
                server: AuthorizationServerConfiguration(
                    clients: [RegisteredClient("latchkey", redirectURIs: [redirect])], consent: .page))
            let directory = try TestDirectory()
            let session = try await FlowSession(flow, .vault, browser: Self.stand(in: directory))
            try await session.run(["scheme", "add", scheme])
            // The desktop hands the address to the handler, which isn't to come back to this browser.
            var desktop = session.environment.merging(["DISPLAY": ":99"]) { _, new in new }
            desktop["BROWSER"] = nil
            let browser = try await HeadlessBrowser(
                environment: desktop, handedOver: [session.server.origin: [scheme]])
            _ = try Self.stand(in: directory, for: browser)

            try await session.signIn(in: browser) { tab, running in
                try await tab.click("button[value=allow]")
                try await running.wait(for: "the end of the sign-in") { !running.isRunning }
                #expect(try await tab.trail().allSatisfy { !$0.contains("code=") })
            }
            #expect(session.server.record.codesExchanged == 1)
            #expect(try await session.run(session.request).outputText.contains("octocat"))
            await browser.stop()
            try session.expectNothingFound()
        }
    }
}
