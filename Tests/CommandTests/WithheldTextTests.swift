import AuthorizationServer
import Foundation
import RedactionAudit
import Secrets
import TestServices
import Testing

/// A server that sends a token back as ordinary text: what the real program would then log and say is withheld.
@Suite struct WithheldTextTests {
    private let directory: TestDirectory
    private let server: LoopbackAuthorizationServer
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        server = try LoopbackAuthorizationServer()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        environment["BROWSER"] = try directory.write(
            "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700
        )
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
        try await run(
            "provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey", "--scope", "read",
            "--scope", "openid"
        )
        .successful("provider add")
    }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    private static let withheld = "a record was withheld: a secret that is in use stood in it"

    @Test(arguments: ["text", "json"], [AuthorizationServerFault.accessTokenInScope, .accessTokenAsName])
    func `a token that comes back as ordinary text is not logged or said, and that is counted`(
        _ format: String, _ fault: AuthorizationServerFault
    ) async throws {
        server.switchOn(fault)
        let signIn = try await run("sign-in", "work", "--log-level", "trace", "--log-format", format)
            .successful("sign-in")
        server.switchOffAllFaults()
        let token = try await run("token", "work").successful("token").output
        let audit = LeakAudit()
        try audit.plant(Secret<AccessToken>(copying: token.span))
        audit.capture(signIn.errorOutput, as: "standard error")
        let report = audit.report()
        #expect(report.isClean, "\(report)")
        // It would have been there: the same lines stand in the log and the output of a sign-in at an honest server.
        if fault == .accessTokenAsName {
            let said = "latchkey: this message was withheld: a secret that is in use stood in it"
            #expect(signIn.errorText.contains(said), "\(signIn.errorText)")
        } else {
            #expect(signIn.errorText.contains(Self.withheld), "\(signIn.errorText)")
        }
        let count = try #require(
            signIn.errorText.firstMatch(of: /warning: a secret that is in use stood in (\d+) lines of messages or logs/)
        )
        #expect(try #require(Int(count.output.1)) >= 1)
    }

    @Test func `an honest server's sign-in has nothing withheld`() async throws {
        let signIn = try await run("sign-in", "work", "--log-level", "trace").successful("sign-in")
        #expect(signIn.errorText.contains("signed in; the session has the scopes read openid"), "\(signIn.errorText)")
        #expect(signIn.errorText.contains("latchkey: signed in at work as octocat"))
        #expect(!signIn.errorText.contains("withheld"))
    }
}
