import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// Where somebody is signed in for the host that a tool asks for, the session's token is the answer.
@Suite struct HelperSessionTests {
    private let scene: HelperScene
    private let server: LoopbackAuthorizationServer
    private let host: String

    init() async throws {
        scene = try await HelperScene(.secretService)
        server = try LoopbackAuthorizationServer()
        host = String(server.issuer.dropFirst("http://".count))
        let browser = "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n"
        let path = try scene.directory.write("browser", browser, mode: 0o700)
        try await run(
            ["provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey", "--for-host"]
                + ["registry.example.org"]
        ).successful("provider add")
        try await run(["sign-in", "work"], ["BROWSER": path]).successful("sign-in")
    }

    @discardableResult
    private func run(_ arguments: [String], _ extra: [String: String] = [:]) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: scene.environment.merging(extra) { $1 })
    }

    private func git(_ verb: String, _ lines: String...) async throws -> ProgramRun {
        try await scene.helper(
            "git-credential-latchkey", verb,
            input: "protocol=http\nhost=\(host)\n" + lines.map { $0 + "\n" }.joined() + "\n")
    }

    private func token() async throws -> String { try await run(["token", "work"]).successful("token").outputText }

    @Test func `git gets the token as a password, with its end`() async throws {
        let run = try await git("get")
        let token = try await token()
        #expect(
            run.outputText.hasPrefix("username=oauth2\npassword=\(token)\npassword_expiry_utc="), "\(run.errorText)")
        #expect(run.errorOutput.isEmpty)
        // By the account's name, or any that servers take for anyone's; not for somebody else.
        for user in ["octocat", "oauth2", "x-access-token"] {
            let run = try await git("get", "username=\(user)")
            #expect(run.outputText.hasPrefix("username=\(user)\npassword=\(token)\n"))
        }
        #expect(try await git("get", "username=somebody").output.isEmpty)
    }

    @Test func `a git that supports it gets a bearer token if the server accepts no other scheme`() async throws {
        let token = try await token()
        let bearer = try await git("get", "capability[]=authtype", "wwwauth[]=Bearer realm=\"x\"")
        #expect(
            bearer.outputText.hasPrefix(
                "capability[]=authtype\nauthtype=Bearer\nephemeral=1\ncredential=\(token)\npassword_expiry_utc="))
        for lines in [
            ["wwwauth[]=Bearer"], ["capability[]=authtype", "wwwauth[]=Bearer", "wwwauth[]=Basic realm=\"x\""],
        ] {
            let input = "protocol=http\nhost=\(host)\n" + lines.map { $0 + "\n" }.joined() + "\n"
            let run = try await scene.helper("git-credential-latchkey", "get", input: input)
            #expect(run.outputText.hasPrefix("username=oauth2\npassword=\(token)\n"))
        }
    }

    @Test func `git doesn't store a session's token twice, and its erase keeps the session`() async throws {
        let token = try await token()
        #expect(try await git("store", "username=oauth2", "password=\(token)").status == 0)
        let listed = try await run(["list"]).successful("list").outputText
        #expect(!listed.contains("git:"))
        let erased = try await git("erase", "username=oauth2", "password=\(token)")
        #expect(erased.status == 0)
        #expect(
            erased.errorText
                == "latchkey: the server refused your session at work; to sign in again: latchkey sign-in work\n"
        )
        #expect(try await git("get").outputText.contains(token))
    }

    /// Such as git's own cache does, which asks to store what it got before the refresh.
    @Test func `git doesn't store a session's earlier token`() async throws {
        let old = try await token()
        try await expireStoredToken()
        #expect(try await token() != old)
        for user in ["oauth2", "x-access-token"] {
            #expect(try await git("store", "username=\(user)", "password=\(old)").status == 0)
        }
        #expect(try await !run(["list"]).successful("list").outputText.contains("git:"))
        // Under the account's name a token is known by its end.
        _ = try await git("store", "username=octocat", "password=\(old)", "password_expiry_utc=4000000000")
        #expect(try await !run(["list"]).successful("list").outputText.contains("git:"))
        // Nor without the server.
        try await expireStoredToken()
        server.switchOn(.status(503, .token))
        #expect(try await git("store", "username=oauth2", "password=\(old)").errorOutput.isEmpty)
        #expect(try await !run(["list"]).successful("list").outputText.contains("git:"))
    }

    @Test func `a refresh that fails without an end of the session is reported as what it is`() async throws {
        try await expireStoredToken()
        for (fault, status) in [
            (.status(403, .token), 77), (.status(429, .token), 75), (.truncatedJSON(.token), 76),
        ] as [(AuthorizationServerFault, Int32)] {
            server.switchOn(fault)
            let run = try await git("get")
            #expect(run.status == status && !run.errorText.contains("has ended"), "\(fault): \(run.errorText)")
            #expect(run.errorText.contains("latchkey token work"), "\(run.errorText)")
            server.switchOffAllFaults()
        }
    }

    @Test func `a stored password for the host comes before the session`() async throws {
        _ = try await git("store", "username=ada", "password=by hand")
        #expect(try await git("get").outputText == "username=ada\npassword=by hand\n")
    }

    @Test func `an ended password doesn't hide a session from Go, nor does the port that https has`() async throws {
        let input = "protocol=https\nhost=registry.example.org\nusername=ada\npassword=x\n"
        try await scene.helper(
            "git-credential-latchkey", "store", input: input + "password_expiry_utc=1000000000\n\n"
        ).successful("git store")
        let login = Data("oauth2:\(try await token())".utf8).base64EncodedString()
        for host in ["registry.example.org", "registry.example.org:443"] {
            let run = try await scene.helper("latchkey", "helper", "go", "https://\(host)/module")
            #expect(run.outputText.contains("Authorization: Basic \(login)\n"), "\(host): \(run.errorText)")
        }
    }

    @Test func `32 concurrent callers refresh an expired token once`() async throws {
        let old = try await token()
        server.expireAccessTokens()
        try await expireStoredToken()
        let running = try (0..<32).map { _ in
            let program = try Program(scene.directory / "bin/git-credential-latchkey").start(
                ["get"], environment: scene.environment)
            program.send(Array("protocol=http\nhost=\(host)\n\n".utf8))
            return program
        }
        var answers: Set<String> = []
        for program in running {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.hasPrefix("username=oauth2\npassword="), "\(run.errorText)")
            answers.insert(run.outputText)
        }
        #expect(answers.count == 1 && !answers.contains { $0.contains(old) })
        #expect(server.record.refreshes == 1 && server.record.replays == 0)
    }

    @Test func `networking is loaded only for a refresh`() async throws {
        let request = "protocol=http\nhost=\(host)\n\n"
        let name = "git-credential-latchkey"
        #expect(try await scene.networkingLoaded(by: name, ["get"], input: request) == [])
        try await expireStoredToken()
        #expect(try await scene.networkingLoaded(by: name, ["get"], input: request).contains("libcurl"))
        #expect(server.record.refreshes == 1)
        #expect(try await scene.networkingLoaded(by: name, ["get"], input: request) == [])
    }

    @Test func `a session that its server has ended, and one without its server, are reported in one line`()
        async throws
    {
        try await expireStoredToken()
        server.switchOn(.status(503, .token))
        let unreachable = try await git("get")
        #expect(unreachable.status == 75 && unreachable.output.isEmpty)
        #expect(unreachable.errorText.contains("can't be reached") && unreachable.errorText.count { $0 == "\n" } == 1)
        server.switchOffAllFaults()
        server.revokeEverything()
        let run = try await git("get")
        #expect(run.status == 77 && run.output.isEmpty)
        #expect(
            run.errorText == "latchkey: your session at work has ended; latchkey sign-in work\n", "\(run.errorText)")
        // Once its end is known, too, and with the account that was asked for.
        for _ in 0..<2 {
            let again = try await scene.helper("latchkey", "helper", "headers", "work", "--account", "octocat")
            #expect(again.status == 77, "\(again.errorText)")
            #expect(again.errorText.contains("latchkey sign-in work --account octocat"), "\(again.errorText)")
        }
    }

    @Test func `an ended session doesn't hide another provider's for the same host`() async throws {
        let browser = scene.directory / "browser"
        let other = try LoopbackAuthorizationServer()
        try await run(
            ["provider", "add", "also", "--issuer", other.issuer, "--client-id", "latchkey", "--for-host"]
                + ["registry.example.org"]
        ).successful("provider add")
        try await run(["sign-in", "also"], ["BROWSER": browser]).successful("sign-in")
        try await expireStoredToken(of: "also")
        let token = try await token()
        // One whose refresh fails doesn't either.
        other.switchOn(.status(403, .token))
        for _ in 0..<2 {
            let docker = try await scene.helper("docker-credential-latchkey", "get", input: "registry.example.org")
            #expect(docker.outputText.contains("\"Secret\":\"\(token)\""), "\(docker.outputText)")
            other.switchOffAllFaults()
            other.revokeEverything()
        }
    }

    @Test func `docker and pip get the token for the hosts in --for-host`() async throws {
        let token = try await token()
        let docker = try await scene.helper("docker-credential-latchkey", "get", input: "registry.example.org")
        #expect(
            docker.outputText
                == "{\"ServerURL\":\"registry.example.org\",\"Username\":\"oauth2\",\"Secret\":\"\(token)\"}")
        let pip = try await scene.helper(
            "keyring", "get", "--mode", "creds", "https://registry.example.org/api/packages/simple/")
        #expect(pip.outputText == "oauth2\n\(token)\n")
        for other in ["registry.example.org.evil.example", "registry.example.org:8443", "example.org"] {
            let run = try await scene.helper("docker-credential-latchkey", "get", input: other)
            #expect(run.status == 1 && run.outputText == "credentials not found in native keychain\n")
        }
        let inClear = try await scene.helper("docker-credential-latchkey", "get", input: "http://registry.example.org")
        #expect(inClear.status == 1)
    }

    /// Reads a path of a cluster, as a user whose tokens are our helper's.
    private func kubectl(
        _ path: String, at cluster: FixtureServer, _ authority: CertificateAuthority, _ options: [String] = [],
        version: String = "v1"
    ) async throws -> ProgramRun {
        try scene.directory.write(
            "kubeconfig",
            """
            apiVersion: v1
            kind: Config
            current-context: own
            clusters: [{name: own, cluster: {server: "https://\(cluster.host)", certificate-authority: \(authority.certificate)}}]
            contexts: [{name: own, context: {cluster: own, user: own}}]
            users:
            - name: own
              user:
                exec:
                  apiVersion: client.authentication.k8s.io/\(version)
                  command: latchkey
                  args: [\((["helper", "kubectl", "work"] + options).joined(separator: ", "))]
                  interactiveMode: Never
            """)
        return try await scene.shell("\"$1/kubectl\" --kubeconfig kubeconfig get --raw \(path)", Self.judges)
    }

    @Test func `kubectl gets the token, in the version that it asks for`() async throws {
        let token = try await token()
        let authority = try await CertificateAuthority(in: scene.directory)
        let api = try await FixtureServer("tls_server.py", authority.serverChain, authority.serverKey)
        for version in ["v1", "v1beta1"] {
            let run = try await kubectl("/healthz", at: api, authority, version: version)
            #expect(run.outputText == "Bearer \(token)", "\(run.errorText)")
        }
        let nobody = try await scene.helper("latchkey", "helper", "kubectl", "nowhere")
        #expect(nobody.status == 1 && nobody.output.isEmpty)
        #expect(
            nobody.errorText.hasPrefix("latchkey: unknown provider \"nowhere\"; ")
                && nobody.errorText.contains("latchkey sign-in nowhere --issuer URL --client-id ID"),
            "\(nobody.errorText)")
    }

    @Test func `a cluster that checks ID tokens by their issuer's keys accepts kubectl with no other token`()
        async throws
    {
        let authority = try await CertificateAuthority(in: scene.directory)
        let cluster = try await FixtureServer(
            "kubernetes_server.py", authority.serverChain, authority.serverKey, server.issuer, "latchkey")
        for (options, isLetIn) in [(["--id"], true), ([], false)] {
            let run = try await kubectl("/api/v1/namespaces/default/pods", at: cluster, authority, options)
            #expect((run.status == 0) == isLetIn, "\(run.errorText)")
        }
        #expect(
            cluster.requests.first == "let in octocat"
                && cluster.requests.dropFirst().allSatisfy { $0.hasPrefix("refused") })
    }

    @Test func `the page's settings for agents run, and respond as these programs expect`() async throws {
        let page = try String(
            contentsOf: TestData.package.appendingPathComponent("Docs/HowTo/tokens.md"), encoding: .utf8)
        let blocks = page.matches(of: /```json\n([^`]+)```/).prefix(2).map { Data($0.output.1.utf8) }
        try #require(blocks.count == 2)
        struct Settings: Decodable { let apiKeyHelper: String }
        struct Servers: Decodable {
            struct Server: Decodable { let headersHelper: String }
            let mcpServers: [String: Server]
        }
        let settings = try JSONDecoder().decode(Settings.self, from: blocks[0])
        let servers = try JSONDecoder().decode(Servers.self, from: blocks[1])
        try await scene.latchkey("set", "api.example.com", "key", input: "sk-of-the-agent")
        let key = try await scene.shell(settings.apiKeyHelper)
        #expect(key.outputText == "sk-of-the-agent", "\(key.errorText)")
        // The session here is at `work`.
        let helper = try #require(servers.mcpServers["tools"]).headersHelper.replacing("tools", with: "work")
        let headers = try await scene.shell(helper)
        let fields = try JSONDecoder().decode([String: String].self, from: Data(headers.output))
        #expect(fields == ["Authorization": "Bearer \(try await token())"], "\(headers.errorText)")
    }

    @Test func `kubectl gets the ID token on request, and an agent gets a header`() async throws {
        let id = try await run(["token", "work", "--id"]).successful("token --id").outputText
        #expect(id.split(separator: ".").count == 3)
        let kubectl = try await scene.helper("latchkey", "helper", "kubectl", "work", "--id")
        #expect(kubectl.outputText.contains("\"token\":\"\(id)\",\"expirationTimestamp\":\"2"), "\(kubectl.errorText)")
        let headers = try await scene.helper("latchkey", "helper", "headers", "work")
        #expect(headers.outputText == "{\"Authorization\":\"Bearer \(try await token())\"}", "\(headers.errorText)")
        let nobody = try await scene.helper("latchkey", "helper", "headers", "nowhere")
        #expect(nobody.status == 1 && nobody.output.isEmpty)
        let badName = try await scene.helper("latchkey", "helper", "headers", "No Where")
        #expect(badName.status == 64 && badName.output.isEmpty)
        try await expireStoredToken()
        let before = try await scene.helper("latchkey", "helper", "headers", "work")
        #expect(before.status == 0 && before.outputText != headers.outputText && server.record.refreshes == 1)
    }

    @Test func `a token in JSON has its type, its end and its scopes`() async throws {
        struct Answer: Decodable, Equatable {
            let token: String
            let type: String
            let expires: String
            let scopes: [String]
        }
        let access = try await run(["token", "work", "--json"]).successful("token --json")
        let answer = try JSONDecoder().decode(Answer.self, from: Data(access.output))
        let token = try await token()
        #expect(answer.token == token && answer.type == "Bearer" && answer.scopes == ["openid"])
        #expect(answer.expires.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        let id = try await run(["token", "work", "--id", "--json"]).successful("token --id --json")
        #expect(try JSONDecoder().decode(Answer.self, from: Data(id.output)).type == "ID token")
    }

    @Test func `without an ID token the error names the scope that brings one`() async throws {
        let path = scene.directory / "browser"
        try await run(["sign-in", "work", "--account", "octocat", "--scope", "read"], ["BROWSER": path])
            .successful("sign-in")
        for arguments in [["token", "work", "--id"], ["helper", "kubectl", "work", "--id"]] {
            let run = try await run(arguments)
            #expect(
                run.status == 77 && run.output.isEmpty && run.errorText.contains("--scope openid"), "\(run.errorText)")
        }
    }

    private static let judges = TestData.package
        .appendingPathComponent(".build/judges/python/bin").path

    /// The name of a provider may be given to another server later: the first one's session is not for its hosts.
    @Test func `a session of another server under the same name isn't used`() async throws {
        let other = try LoopbackAuthorizationServer()
        try await run(
            ["provider", "add", "work", "--issuer", other.issuer, "--client-id", "latchkey", "--force"]
        ).successful("provider add")
        let run = try await scene.helper(
            "git-credential-latchkey", "get",
            input: "protocol=http\nhost=\(other.issuer.dropFirst("http://".count))\n\n")
        #expect(run.output.isEmpty)
    }

    /// Makes the stored session one whose access token has ended, as the clock would.
    private func expireStoredToken(of provider: String = "work") async throws {
        let run = try await Program("/usr/bin/python3").run(
            [HelperScene.fixture("expire_session.py"), provider], environment: scene.environment)
        #expect(run.outputText == "expired\n", "\(run.errorText)")
    }
}
