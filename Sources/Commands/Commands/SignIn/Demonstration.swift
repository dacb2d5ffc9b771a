internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLeakAudit
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyCommandLine
internal import LatchkeyTestServer

/// The whole path of a sign-in, step by step, on a server in this process. Each step says what it did.
struct Demonstration {
    let server: LoopbackAuthorizationServer
    let store: any CredentialStore
    let leases: LeaseDirectory
    let output: TerminalOutput
    let log: RedactedLogger

    /// The steps in order. `step` is called after each.
    func run(after step: () throws -> Void) async throws {
        let service = SignInService(
            provider: try provider(), store: store,
            context: SignInContext(http: CurlTransport(), leases: leases, log: log.category("latchkey.sign-in")))
        try output.write("server    \(shown(server.origin)), in this process")
        try output.write("store     \(store.identity)")
        try step()

        let session = try await service.signIn(presenting: .consenting(), deadline: .after(.seconds(60)))
        try output.write("sign-in   as \(Account(session.account)), through the consent page, with PKCE and state")
        try step()

        try output.write("request   \(try await request(service))")
        try step()

        server.expireAccessTokens()
        try output.write("refresh   of the expired token, then \(try await request(service))")
        try step()
    }

    /// Revokes and deletes the session.
    func signOut() async throws {
        let service = SignInService(
            provider: try provider(), store: store,
            context: SignInContext(http: CurlTransport(), leases: leases, log: log.category("latchkey.sign-in")))
        let report = await service.signOut()
        try output.write("sign-out  \(report)")
        if case .failed(let error) = report.deletion { throw error }
    }

    private func provider() throws -> OAuthProvider {
        try OAuthProvider.issuer(
            Issuer(server.issuer), name: "demo", clientID: "latchkey", scopes: ["profile", "offline_access"])
    }

    private func request(_ service: SignInService) async throws -> LogMessage {
        let url = try HTTPURL(server.userInfoEndpoint)
        let response = try await service.send(GuardedRequest(.get, url))
        guard response.isSuccess else {
            throw CommandFailure(
                .internalError, "demo.request", "\(url) responded with status \(response.status)")
        }
        return "GET \(url): status \(response.status)"
    }

    private func shown(_ origin: String) -> LoggableText {
        LoggableText(reviewed: "the loopback address of the server in this process", unredacted: origin)
    }
}
