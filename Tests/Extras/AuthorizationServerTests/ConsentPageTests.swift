import LatchkeyHTTP
import LatchkeyTestServer
import Testing

/// The page on which a person says yes or no.
struct ConsentPageTests {
    private let server: LoopbackAuthorizationServer
    private let client: TestClient

    init() throws {
        let clients = [RegisteredClient("<b>app</b>", redirectURIs: ["http://127.0.0.1/callback"])]
        server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(clients: clients, consent: .page))
        var client = TestClient(server)
        client.identifier = "<b>app</b>"
        self.client = client
    }

    /// The number of the request in the page's form.
    private func number(_ page: TestClient.Response) throws -> String {
        let parts = page.text.split(separator: "name=\"request\" value=\"", maxSplits: 1)
        return try #require(parts.last?.split(separator: "\"").first.map(String.init))
    }

    @Test func `the page names client, account and scopes, and escapes them`() async throws {
        let page = try await client.authorize(["scope": "repo <script>"])
        #expect(page.status == 200)
        #expect(page.text.contains("Let &lt;b&gt;app&lt;/b&gt; sign you in as octocat?"))
        #expect(page.text.contains("repo, &lt;script&gt;"))
        #expect(!page.text.contains("<script>"))
        #expect(page.fields.contains { $0.name == "Content-Security-Policy" })
        #expect(server.record.codesIssued == 0)
    }

    @Test func `the button for yes leads back with a code, once`() async throws {
        let number = try number(try await client.authorize())
        let response = try await client.post(server.origin + "/consent", ["request": number, "decision": "allow"])
        #expect(response.status == 302)
        #expect(response.redirect["state"] == "st ate&1")
        #expect(try await client.exchange(code: response.code).status == 200)
        let again = try await client.post(server.origin + "/consent", ["request": number, "decision": "allow"])
        #expect(again.status == 400)
    }

    @Test(arguments: ["deny", "", "maybe"])
    func `any answer but yes is a no`(decision: String) async throws {
        let number = try number(try await client.authorize())
        let response = try await client.post(server.origin + "/consent", ["request": number, "decision": decision])
        #expect(response.redirect["error"] == "access_denied")
        #expect(response.redirect["code"] == nil)
        #expect(server.record.denials == 1)
    }

    @Test func `a number that the server didn't show is refused`() async throws {
        let response = try await client.post(server.origin + "/consent", ["request": "guess", "decision": "allow"])
        #expect(response.status == 400)
    }
}
