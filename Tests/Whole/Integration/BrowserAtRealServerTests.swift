import Foundation
import Testing
import TestServices

extension RealBrowser {
    /// A real browser at a real server's own pages, which are scripts.
    struct RealServerTests {
        @Test func `on glewlwyd's own pages a person signs in, grants one scope of two, and the session says which`()
            async throws
        {
            let browser = try RealBrowser.browser()
            let redirect = "http://127.0.0.1:\(try LoopbackPort.free())/callback"
            let server = try await Glewlwyd(redirectURIs: [redirect], pages: true)
            let session = try await CommandLineSession(.vault) { _ in ["BROWSER": browser.command] }
            try await session.run([
                "provider", "add", "work", "--issuer", server.issuer(.hour), "--client-id", Glewlwyd.nativeClient,
                "--scope", "openid", "--scope", "notes:read", "--scope", "notes:write",
                "--redirect", redirect,
            ])
            let run = try await session.run(["sign-in", "work", "--browser"], on: PseudoTerminal()) { _ in
                let tab = try await browser.newTab()
                try await tab.type(Glewlwyd.user, into: "#username")
                try await tab.type(Glewlwyd.userPassword, into: "#password")
                try await tab.click("#loginbut")
                // The person ticks one of the scopes, and not the other.
                try await tab.click("[id='grant-notes:read']")
                try await tab.click(".carousel .btn-primary")
                try await tab.wait(forText: "What do you wish for?")
                try await tab.click(".card-footer .btn-success")
                try await tab.wait(forTitle: "You are signed in")
            }
            #expect(run.status == 0, "\(run.errorText)")
            #expect(try server.accessTokensIssued(.hour) == 1)
            let accounts = try await session.run(["accounts", "--json"]).outputText
            #expect(accounts.contains("\"notes:read\"") && !accounts.contains("notes:write"), "\(accounts)")
        }
    }
}
