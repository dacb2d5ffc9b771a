import Foundation
import LatchkeyLeakAudit
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestServices

/// A server that sends a token back as ordinary text: what the real program would then log and say is withheld.
@Suite struct WithheldTextTests {
    private let scene: RefreshScene
    private var directory: TestDirectory { scene.directory }
    private var server: LoopbackAuthorizationServer { scene.server }
    private var environment: [String: String] { scene.environment }

    init() async throws {
        scene = try await RefreshScene(scopes: ["read", "openid"], signsIn: false)
    }

    private static let withheld = "withheld a record, because it contained a secret in use"

    private func expectNone(
        of token: [UInt8], in texts: [[UInt8]], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let audit = LeakAudit()
        try audit.plant(Secret<AccessToken>(copying: token.span))
        for text in texts { audit.capture(text, as: "what was said") }
        for folder in ["data", "config", "state"] { try audit.capture(folder: directory / folder) }
        let report = audit.report()
        #expect(report.isClean, "\(report)", sourceLocation: sourceLocation)
    }

    /// The address of this server has the client's secret in it: every line that names the server would show it.
    @Test(arguments: ["text", "json"])
    func `a secret that returns as ordinary text is neither logged nor printed, and the log counts it`(
        _ format: String
    ) async throws {
        let secret = Array("q7XwK2mVb9RtYpLz4HcNd8FsGjU1eAoI3rTyBnM6kQh".utf8)
        let server = try LoopbackAuthorizationServer(
            AuthorizationServerConfiguration(
                clients: [
                    RegisteredClient(
                        "confidential", redirectURIs: ["http://127.0.0.1/*", "http://[::1]/*"],
                        secret: Secret<ClientSecret>(copying: secret.span))
                ], issuerPath: "/" + String(decoding: secret, as: UTF8.self)))
        try await BuiltProducts.latchkey().run(
            ["provider", "add", "careless", "--issuer", server.issuer, "--client-id", "confidential"]
                + ["--client-secret-stdin", "--scope", "openid"], environment: environment, input: secret
        ).successful("provider add")
        let signIn = try await scene.run("sign-in", "careless", "--log-level", "trace", "--log-format", format)
            .successful("sign-in")
        #expect(signIn.errorText.contains("latchkey: signed in at careless as octocat"))
        #expect(signIn.errorText.contains(Self.withheld), "\(signIn.errorText)")
        let count = try #require(
            signIn.errorText.firstMatch(
                of: /warning: a secret that is in use stood in (\d+) lines? of messages or logs/)
        )
        #expect(try #require(Int(count.output.1)) >= 1)
        let audit = LeakAudit()
        try audit.plant(Secret<ClientSecret>(copying: secret.span))
        audit.capture(signIn.errorOutput + signIn.output, as: "what was said")
        let report = audit.report()
        #expect(report.isClean, "\(report)")
    }

    @Test func `a token among the scopes is neither logged nor kept for listings to show`() async throws {
        server.switchOn(.accessTokenInScope)
        let signIn = try await scene.run("sign-in", "work", "--log-level", "trace").successful("sign-in")
        server.switchOffAllFaults()
        let token = try await scene.run("token", "work").successful("token").output
        #expect(
            signIn.errorText.contains("the server put a token among the scopes; skipping the scopes that contain it"))
        let listings = [
            try await scene.run("accounts").successful("accounts"),
            try await scene.run("accounts", "--json").successful("accounts"),
        ]
        try expectNone(of: token, in: [signIn.errorOutput, signIn.output] + listings.map(\.output))
    }

    @Test(arguments: ["text", "json"])
    func `a server that names the account by its token is refused, and its tokens are revoked`(
        _ format: String
    ) async throws {
        server.switchOn(.accessTokenAsName)
        let signIn = try await scene.run("sign-in", "work", "--log-level", "trace", "--log-format", format)
        #expect(signIn.status == 76)
        #expect(
            signIn.errorText.contains(
                "latchkey: error: the server's name for the account is a token, which is a secret"
                    + " [sign-in.token-in-account]"), "\(signIn.errorText)")
        #expect(server.record.revocations == 1)
        let listing = try await scene.run("accounts", "--json").successful("accounts")
        let items = try await scene.run("list", "--json").successful("list")
        #expect(listing.outputText == "[]\n" && items.outputText == "[]\n")
        var tokens: [[UInt8]] = []
        server.withEachSecret { name, secret in
            if name == "access_token" {
                tokens.append(secret.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } })
            }
        }
        #expect(tokens.count == 1)
        for token in tokens { try expectNone(of: token, in: [signIn.errorOutput, signIn.output]) }
    }

    @Test func `an honest server's sign-in withholds nothing`() async throws {
        let signIn = try await scene.run("sign-in", "work", "--log-level", "trace").successful("sign-in")
        #expect(signIn.errorText.contains("signed in; the session has the scopes read openid"), "\(signIn.errorText)")
        #expect(signIn.errorText.contains("latchkey: signed in at work as octocat"))
        #expect(!signIn.errorText.contains("withheld"))
    }
}
