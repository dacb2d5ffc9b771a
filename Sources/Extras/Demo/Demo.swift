import FoundationEssentials
import Glibc
import Latchkey
import LatchkeyLeakAudit
import LatchkeyTestServer

/// `latchkey-demo`: a sign-in from its first step to its last, at a server in this process. An audit then searches for
/// each secret of it in every byte that was printed, logged or stored.
@main enum Demo {
    static func main() async {
        _ = ProcessHardening.apply()
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-demo-\(UUID())").path
        let succeeded: Bool
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let report = try await signIn(storingIn: folder)
            print("audit     \(report)")
            succeeded = report.isClean
        } catch {
            print("failed    \(error)")
            succeeded = false
        }
        try? FileManager.default.removeItem(atPath: folder)
        exit(succeeded ? 0 : 1)
    }

    private static func signIn(storingIn folder: String) async throws -> LeakReport {
        let audit = LeakAudit()
        let output = try DescriptorTap(descriptor: 1, as: "standard output")
        let errors = try DescriptorTap(descriptor: 2, as: "standard error")
        let log = RedactedLogger("latchkey.demo", minimumLevel: .trace, sink: audit.logSink(named: "the log"))
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(consent: .page))
        try VaultKeyFile.create(at: folder + "/key")
        let store = try await VaultStore.create(at: folder + "/vault", unlockedBy: .keyFile(folder + "/key"))
        let service = SignInService(
            provider: try .issuer(
                Issuer(server.issuer), name: "demo", clientID: "latchkey", scopes: ["profile", "offline_access"]),
            store: store,
            context: SignInContext(http: CurlTransport(), leases: LeaseDirectory(path: folder + "/leases"), log: log))
        show("server    \(try HTTPURL(server.issuer)), in this process")
        show("store     \(store.identity)")

        _ = try await service.signIn(presenting: .consenting(), deadline: .after(.seconds(60)))
        show("sign-in   through the consent page, with PKCE and state")
        show("request   \(try await request(server.userInfoEndpoint, service))")
        server.expireAccessTokens()
        show("refresh   of the expired token, then \(try await request(server.userInfoEndpoint, service))")
        // The data on a stolen disk, while the session exists.
        try audit.capture(folder: folder)
        show("sign-out  \(await service.signOut())")

        try server.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in try audit.plant(secret) }
        output.finish(into: audit)
        errors.finish(into: audit)
        return audit.report()
    }

    private static func request(_ address: String, _ service: SignInService) async throws -> LogMessage {
        let url = try HTTPURL(address)
        let response = try await service.send(GuardedRequest(.get, url))
        return "GET \(url): status \(response.status)"
    }

    private static func show(_ line: LogMessage) {
        print(line)
        // Standard output is a pipe to the audit here, and so would be written at the end.
        fflush(nil)
    }
}
