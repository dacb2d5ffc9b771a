import Foundation
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyLoopback
import LatchkeyOAuth
import LatchkeySystem
import TestServices
import Testing

@testable import LatchkeySignIn

/// The receiver's responses to a browser, requested over HTTP.
struct LoopbackReceiverTests {
    private static func attempt(
        _ address: RedirectURI.LoopbackAddress = .ipv4, port: UInt16? = nil, path: String = "/callback"
    ) throws -> LoopbackReceiver {
        try LoopbackReceiver.listen(at: .loopback(address, port: port, path: path), log: .disabled)
    }

    @Test(arguments: RedirectURI.LoopbackAddress.allCases)
    func `the browser is led to the sign-in page, back, and to a final page without a query`(
        address: RedirectURI.LoopbackAddress
    ) async throws {
        let server = try ScriptedServer()
        let receiver = try Self.attempt(address)
        let pending = try server.begin(receiver.redirect)
        receiver.handler.expect(try pending.authorizationURL(), gate: pending.responseGate())

        let start = try await Fetched.get(receiver.startLink)
        #expect(start.status == 302)
        let page = try await Fetched.get(#require(start.location))
        let callback = try await Fetched.get(#require(page.location))
        #expect(callback.status == 303)
        let done = try #require(callback.location)
        #expect(!done.contains("code") && !done.contains("?"))

        let response = try await receiver.response(until: .unhurried)
        async let last = Fetched.get(receiver.redirect.origin + done)
        _ = await receiver.handler.requestedEnd.value()
        await receiver.finish(.signedIn)
        let shown = try await last
        #expect(shown.status == 200)
        #expect(shown.text.contains("You are signed in"))
        #expect(shown.policy?.contains("default-src 'none'") == true)
        _ = try pending.validate(response)
        await #expect(throws: (any Error).self) { try await Fetched.get(receiver.startLink) }
    }

    @Test func `the name localhost has listeners on both addresses, and a port of another program is refused`()
        async throws
    {
        let receiver = try Self.attempt(.localhost)
        let port = try #require(receiver.redirect.port)
        for host in ["127.0.0.1", "[::1]"] {
            #expect(try await Fetched.get("http://\(host):\(port)/nothing").status == 404)
        }
        await receiver.finish(.signedIn)
        for family in [LoopbackServer.Family.ipv4, .ipv6] {
            let other = try LoopbackServer(LoopbackServer.Configuration(family: family, port: LoopbackPort.free())) {
                _ in
                LoopbackResponse(status: 200, contentType: "text/plain", publicText: "theirs")
            }
            let error = #expect(throws: UserAgentError.self) { try Self.attempt(.localhost, port: other.port) }
            #expect(error?.logMessage.text.contains("another process uses port") == true)
            // The other address is free again. A program that another test starts holds the socket until its exec.
            let limit = ContinuousClock.now + .seconds(5)
            while true {
                do {
                    _ = try Self.attempt(family == .ipv4 ? .ipv6 : .ipv4, port: other.port)
                    break
                } catch let error as UserAgentError {
                    guard error.logMessage.text.contains("another process uses port"), .now < limit else { throw error }
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            other.stop()
        }
    }

    @Test func `the start link works once, and a question by HEAD doesn't use it up`() async throws {
        let server = try ScriptedServer()
        let receiver = try Self.attempt()
        let pending = try server.begin(receiver.redirect)
        receiver.handler.expect(try pending.authorizationURL(), gate: pending.responseGate())
        #expect(try await Fetched.get(receiver.startLink, method: .head).status == 200)
        #expect(try await Fetched.get(receiver.startLink).status == 302)
        let again = try await Fetched.get(receiver.startLink)
        #expect(again.status == 410)
        #expect(again.location == nil)
    }

    @Test func `forged responses, favicons and other requests change nothing, and the true response still wins`()
        async throws
    {
        let server = try ScriptedServer()
        let receiver = try Self.attempt(path: "/own/path")
        let pending = try server.begin(receiver.redirect)
        receiver.handler.expect(try pending.authorizationURL(), gate: pending.responseGate())
        let page = try await Fetched.get(try #require(Fetched.get(receiver.startLink).location))
        let callback = try #require(page.location)
        let base = receiver.redirect.text

        for forged in [
            base, base + "?code=x", base + "?code=x&state=forged", base + "?error=access_denied&state=forged",
            base + "?error=access_denied", callback + "&code=second", base + "?%zz", base + "?state=",
        ] {
            let response = try await Fetched.get(forged)
            #expect(response.status == 400)
            #expect(response.text.contains("t the response"))
        }
        #expect(try await Fetched.get(receiver.redirect.origin + "/favicon.ico").status == 404)
        #expect(try await Fetched.get(receiver.redirect.origin + "/callback").status == 404)
        #expect(try await Fetched.get(callback, method: .post).status == 405)
        #expect(receiver.handler.event.present == nil)

        #expect(try await Fetched.get(callback).status == 303)
        #expect(try await Fetched.get(callback).status == 409)
        let response = try await receiver.response(until: .unhurried)
        _ = try pending.validate(response)
    }

    @Test func `a HEAD at the redirect address isn't a response`() async throws {
        let server = try ScriptedServer()
        let receiver = try Self.attempt()
        let pending = try server.begin(receiver.redirect)
        receiver.handler.expect(try pending.authorizationURL(), gate: pending.responseGate())
        let page = try await Fetched.get(try #require(Fetched.get(receiver.startLink).location))
        #expect(try await Fetched.get(#require(page.location), method: .head).status == 400)
        #expect(receiver.handler.event.present == nil)
    }

    @Test func `a used port is reported`() throws {
        let first = try Self.attempt()
        let error = #expect(throws: UserAgentError.self) { try Self.attempt(port: first.redirect.port) }
        guard case .unavailable(.cannotListen(let inner)) = error?.code else {
            Issue.record("another error")
            return
        }
        #expect(inner.error.code == .portInUse)
    }

    @Test func `a port that is set is used`() throws {
        let free = try LoopbackPort.free()
        let receiver = try Self.attempt(port: free, path: "/x")
        #expect(receiver.redirect.text == "http://127.0.0.1:\(free)/x")
    }

    @Test func `the wait ends at the deadline, and the page says so`() async throws {
        let server = try ScriptedServer()
        let receiver = try Self.attempt()
        let pending = try server.begin(receiver.redirect)
        receiver.handler.expect(try pending.authorizationURL(), gate: pending.responseGate())
        await #expect(throws: UserAgentError.timedOut) {
            _ = try await receiver.response(until: .after(.milliseconds(20)))
        }
    }

    @Test func `a page that no browser opened is distinguished from one without a response`() async throws {
        let server = try ScriptedServer()
        for isOpened in [false, true] {
            let receiver = try Self.attempt()
            let pending = try server.begin(receiver.redirect)
            receiver.handler.expect(try pending.authorizationURL(), gate: pending.responseGate())
            if isOpened { #expect(try await Fetched.get(receiver.startLink).status == 302) }
            await #expect(throws: isOpened ? UserAgentError.timedOut : .pageNeverOpened) {
                _ = try await receiver.response(until: .after(.milliseconds(20)), needsBrowser: true)
            }
        }
    }

    @Test func `the wait ends when its task is cancelled`() async throws {
        let receiver = try Self.attempt()
        let task = Task { () async -> UserAgentError? in
            do throws(UserAgentError) {
                _ = try await receiver.response(until: .unhurried)
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func `the listener accepts only loopback addresses`() {
        for text in ["https://example.org/callback", "com.example.app:/callback"] {
            #expect(throws: UserAgentError.unavailable(.unsupportedRedirect)) {
                _ = try LoopbackReceiver.listen(at: RedirectURI(text), log: .disabled)
            }
        }
    }
}

extension RedirectURI {
    var origin: String { String(text.dropLast(path.utf8.count)) }
}

struct ResponsePageTests {
    @Test func `text from elsewhere can't become part of the page`() {
        let nasty = LoggableText(reviewed: "a test", unredacted: "<script>alert('1')</script>&\"")
        let html = ResponsePage.outcome(.failed(cause: "no: \(nasty)", hint: "\(nasty)")).html
        #expect(!html.contains("<script"))
        #expect(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;"))
    }

    @Test func `pages refer to nothing outside themselves`() {
        let pages = [
            ResponsePage.outcome(.signedIn), .outcome(.failed(UserAgentError.timedOut)), .foreign, .repeated, .usedLink,
            .notFound,
        ]
        for page in pages {
            for word in ["http:", "https:", "src=", "href=", "url(", "@import"] {
                #expect(!page.html.contains(word))
            }
            #expect(page.html.contains("<script") == (page.ability == .closing))
            #expect(page.html.contains("color-scheme:light dark"))
        }
    }

    @Test func `a page closes itself after a success, and stays open after an error`() {
        let pages = [ResponsePage.outcome(.failed(UserAgentError.timedOut)), .foreign, .repeated, .usedLink, .notFound]
        #expect(pages.allSatisfy { $0.ability == .none })
        #expect(ResponsePage.outcome(.signedIn).ability == .closing)
    }
}
