internal import Foundation
internal import Testing
internal import TestServices

/// Sign-ins for a resource that names its server (RFC 9728), at a server that insists on the resource in each request.
@Suite struct ResourceTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write(
            "browser", "#!/bin/sh\ncurl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700)
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
    }

    @discardableResult
    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    private func signIn(_ options: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["sign-in", "tools", "--timeout", "60"] + options, environment: environment)
    }

    @Test(arguments: [true, false], ["/mcp", "/a/b"])
    func `a sign-in needs only an address, and each request names the resource`(
        isPushed: Bool, path: String
    ) async throws {
        let server = try await StrictServer(
            #"{"resource": "\#(path)", "par": \#(isPushed), "lifetime": 1, "openid": false}"#)
        let first = try await signIn("--resource", server.issuer + path).successful("sign-in")
        #expect(first.errorText.contains("registered the redirect URI http://127.0.0.1:"))
        #expect(first.errorText.contains("sign-ins at \(server.issuer), with the scopes "), "\(first.errorText)")
        let provider = try await run("provider", "list", "--json").outputText
        #expect(provider.contains(#""resource": "\#(server.issuer)\#(path)""#), "\(provider)")
        // The token's one second has passed then, however fast the machine is.
        try await Task.sleep(for: .milliseconds(1100))
        #expect(try await run("request", "tools", server.issuer + path).outputText == #"{"answer": 42}"#)
        try await signIn().successful("sign-in")
        let events = server.events.filter { $0 != "took a pushed request" && $0 != "revoked a token" }
        #expect(
            events == ["registered a client by none", "issued tokens", "refreshed", "issued tokens", "issued tokens"])
        let terminal = try PseudoTerminal()
        try await BuiltProducts.latchkey().start(
            ["sign-in", "tools", "--device"], environment: environment, terminal: terminal
        ).finish().successful("sign-in --device")
        #expect(server.events.allSatisfy { !$0.contains("missing") && !$0.contains("another resource") })
    }

    /// Of other people's making. It wants a client's ID beside its Basic credentials, and it has no scopes.
    @Test func `a sign-in and a request work at an MCP server with its own library`() async throws {
        let python = TestData.package.appendingPathComponent(".build/judges/mcp/bin/python").path
        let server = try Program(python).start([TestData.folder().appendingPathComponent("mcp_server.py").path])
        try await server.wait(for: "its address") { server.outputSoFar.contains("\n") }
        let address = server.outputSoFar.prefix { $0 != "\n" } + "/mcp"
        let initialize = try directory.write(
            "initialize",
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#
                + #""capabilities":{},"clientInfo":{"name":"judge","version":"1"}}}"#)
        func ask() async throws -> String {
            try await run(
                "request", "tools", "POST", String(address), "--data", "@" + initialize, "--header",
                "Content-Type: application/json", "--header", "Accept: application/json, text/event-stream"
            ).successful("request").outputText
        }
        var signedIn = try await signIn("--resource", String(address))
        // The address is printed before the server listens.
        for _ in 0..<600 where signedIn.errorText.contains("[http.cannot-connect]") {
            try await Task.sleep(for: .milliseconds(50))
            signedIn = try await signIn("--resource", String(address))
        }
        try signedIn.successful("sign-in")
        #expect(try await ask().contains(#""name":"judge""#))
        let token = try await run("token", "tools").successful("token").outputText
        let headers = try await run("helper", "headers", "tools").successful("helper headers").outputText
        #expect(headers == #"{"Authorization":"Bearer \#(token)"}"#)
    }

    @Test func `the token goes to the resource and nowhere else`() async throws {
        let server = try await StrictServer(#"{"resource": "/mcp", "tells": true}"#)
        let other = try await StrictServer(#"{"resource": "/mcp"}"#)
        try await signIn("--resource", server.issuer + "/mcp").successful("sign-in")
        let elsewhere = try await run("request", "tools", other.issuer + "/mcp")
        #expect(elsewhere.status == 77 && elsewhere.errorText.contains("[sign-in.other-origin]"))
        // Not even to the server's own user information.
        #expect(!server.events.contains("was asked who signed in"))
        let headers = try await run("helper", "headers", "tools").successful("helper headers").outputText
        #expect(headers.hasPrefix(#"{"Authorization":"Bearer "#))
        for (option, value) in [("--origin", "https://a.example"), ("--for-host", "a.example")] {
            let refused = try await run("provider", "add", "x", "--resource", server.issuer + "/mcp", option, value)
            #expect(refused.status == 64 && refused.errorText.contains("[provider.resource]"))
        }
    }

    @Test func `missing scopes are named with the command that adds them to the session's scopes`() async throws {
        let server = try await StrictServer(#"{"resource": "/mcp", "openid": false}"#)
        try await signIn("--resource", server.issuer + "/mcp").successful("sign-in")
        let refused = try await run("request", "tools", "/admin")
        #expect(refused.status == 77)
        #expect(
            refused.errorText.contains("lacks these scopes: tools:admin; run `latchkey sign-in tools --add-scope"),
            "\(refused.errorText)")
        let named = try await run("request", "tools", "/admin", "--account", "tools")
        #expect(named.errorText.contains("latchkey sign-in tools --account tools --add-scope"), "\(named.errorText)")
        try await signIn("--add-scope", "tools:admin").successful("sign-in")
        #expect(try await run("request", "tools", "/admin").status == 0)
        // The next sign-in asks for them too.
        try await signIn().successful("sign-in")
        #expect(try await run("accounts", "--json").outputText.contains(#""tools:read","#))
        #expect(try await run("request", "tools", "/admin").status == 0)
    }

    /// A script that ran again lost the session: a server registers another client each time.
    @Test func `another registration is only made with --force, and tells of the sessions that it costs`() async throws
    {
        let server = try await StrictServer(#"{"resource": "/mcp", "openid": false}"#)
        let words = ["provider", "add", "tools", "--resource", server.issuer + "/mcp"]
        func add(_ more: String...) async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(words + more, environment: environment)
        }
        try await add().successful("provider add")
        try await signIn().successful("sign-in")
        let again = try await add()
        #expect(again.status == 77 && again.errorText.contains("[provider.kept]"), "\(again.errorText)")
        try await run("token", "tools").successful("token")
        let forced = try await add("--force").successful("provider add").errorText
        #expect(forced.contains("1 session belongs to the former settings and can't be used"), "\(forced)")
        #expect(server.events.count { $0 == "registered a client by none" } == 2)
    }

    @Test func `offline_access is requested if the server lists it`() async throws {
        let server = try await StrictServer(
            #"{"resource": "/mcp", "openid": false, "offline": true, "scopes": ["tools:read", "offline_access"]}"#)
        try await signIn("--resource", server.issuer + "/mcp").successful("sign-in")
        #expect(server.events.contains("asked for consent"))
        #expect(try await run("accounts", "--json").outputText.contains("\"refreshable\": true"))
    }

    @Test(arguments: [
        // The metadata is for another resource, or at another host; a server in plain text; a server without S256.
        (#"{"resource": "https://other.example/mcp"}"#, "it is for another resource", Int32(76)),
        (#"{"at": "https://other.example/metadata"}"#, "points to another host", 76),
        (#"{"authorization_servers": ["http://other.example"]}"#, "points to another host", 76),
        (#"{"authorization_servers": []}"#, "[provider.no-server]", 1),
        (#"{"authorization_servers": ["http://127.0.0.1:1", "http://127.0.0.1:2"]}"#, "[provider.several-servers]", 64),
    ])
    func `a resource with invalid metadata costs no registration`(
        metadata: String, message: String, status: Int32
    ) async throws {
        let server = try await StrictServer(#"{"resource": "/mcp", "metadata": \#(metadata)}"#)
        let run = try await signIn("--resource", server.issuer + "/mcp")
        #expect(run.status == status && run.errorText.contains(message), "\(run.errorText)")
        #expect(run.errorText.contains("hint:") && server.events.isEmpty)
        #expect(try await self.run("provider", "list").outputText.isEmpty)
    }

    @Test(arguments: [#""pkce": []"#, #""registered": {"redirect_uris": ["http://127.0.0.1:1/theirs"]}"#])
    func `a server without S256, and a registration with another redirect, are refused`(setting: String) async throws {
        let server = try await StrictServer(#"{"resource": "/mcp", \#(setting)}"#)
        let run = try await signIn("--resource", server.issuer + "/mcp")
        #expect(run.status == 76, "\(run.errorText)")
        #expect(!server.events.contains("issued tokens"))
    }

    @Test func `a server whose issuer differs by a slash is refused, and a person may choose among several`()
        async throws
    {
        let server = try await StrictServer(#"{"resource": "/mcp"}"#)
        let slash = try await StrictServer(
            #"{"resource": "/mcp", "openid": false, "metadata": {"authorization_servers": ["\#(server.issuer)/", "\#(server.issuer)"]}}"#
        )
        let refused = try await signIn("--resource", slash.issuer + "/mcp", "--issuer", server.issuer + "/")
        #expect(refused.status == 76 && refused.errorText.contains("[oauth.issuer-mismatch]"), "\(refused.errorText)")
        let other = try await signIn("--resource", slash.issuer + "/mcp", "--issuer", "https://third.example")
        #expect(other.status == 77 && other.errorText.contains("[provider.other-server]"), "\(other.errorText)")
        // At a terminal the person is asked.
        for (answer, status) in [("2", Int32(0)), ("1", 76), ("3", 64), ("", 64)] {
            let terminal = try PseudoTerminal()
            let running = try BuiltProducts.latchkey().start(
                ["provider", "add", "tools", "--resource", slash.issuer + "/mcp", "--force"], environment: environment,
                terminal: terminal)
            try await terminal.waitUntilShown("Server to sign in at, 1 to 2")
            terminal.type(answer + "\n")
            let run = try await running.finish()
            #expect(run.status == status, "\(answer): \(run.errorText)")
        }
    }

    /// The second of two servers that claim a resource sends the person to the first one, to get its code (RFC 9700 section
    /// 4.4).
    @Test func `a server that another server's code is meant for doesn't get it`() async throws {
        let honest = try await StrictServer(#"{"resource": "/mcp"}"#)
        let hostile = try await StrictServer(#"{"tells": true, "authorize": "\#(honest.issuer)/authorize"}"#)
        try await honest.change(
            #"{"metadata": {"authorization_servers": ["\#(honest.issuer)", "\#(hostile.issuer)"]}}"#)
        let run = try await signIn(
            "--resource", honest.issuer + "/mcp", "--issuer", hostile.issuer, "--client-id", "me")
        #expect(run.status == 76 && run.errorText.contains("[oauth.issuer-mismatch]"), "\(run.errorText)")
        #expect(!hostile.events.contains("was sent a token request"), "\(hostile.events)")
    }

    @Test func `a resource that moved to another server is reported, and needs a new registration`() async throws {
        let server = try await StrictServer(#"{"resource": "/mcp", "openid": false}"#)
        try await signIn("--resource", server.issuer + "/mcp").successful("sign-in")
        try await server.change(#"{"metadata": {"authorization_servers": ["http://127.0.0.1:1"]}}"#)
        let run = try await signIn()
        #expect(run.status == 77 && run.errorText.contains("[provider.server-changed]"), "\(run.errorText)")
        let other = try await signIn("--resource", server.issuer + "/other")
        #expect(other.status == 64 && other.errorText.contains("[provider.other-resource]"), "\(other.errorText)")
    }

    @Test(arguments: [
        "https://a.example/mcp#x", "https://ada@a.example/mcp", "a.example/mcp", "http://a.example/mcp",
        "https://a.example/mcp?x=1", "urn:x",
    ])
    func `a text that isn't a resource is refused with a hint`(text: String) async throws {
        for command in [["sign-in", "tools"], ["provider", "add", "tools"]] {
            let run = try await BuiltProducts.latchkey().run(command + ["--resource", text], environment: environment)
            #expect(run.status == 64 && run.errorText.contains("hint: use an address such as"), "\(run.errorText)")
        }
    }
}
