import Foundation
import FoundationNetworking
import LatchkeyAuthenticator
import LatchkeyCredentials
import LatchkeyFoundation
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer

/// A server, a person who says yes, and an authenticator that Foundation's requests go through.
final class BridgeScene: Sendable {
    let server: LoopbackAuthorizationServer
    let audit = LeakAudit()
    let authenticator: OAuthAuthenticator
    let folder: URL

    init(
        _ server: AuthorizationServerConfiguration = AuthorizationServerConfiguration(),
        _ change: (inout OAuthAuthenticator.Configuration) -> Void = { _ in }
    ) throws {
        self.server = try LoopbackAuthorizationServer(server)
        folder = URL(fileURLWithPath: "/tmp/lk-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = RedactedLogger("latchkey.bridge", minimumLevel: .trace, sink: audit.logSink(named: "log"))
        let context = SignInContext(
            http: CurlTransport(), leases: LeaseDirectory(path: folder.path + "/leases"), log: log)
        let provider = try OAuthProvider.issuer(
            Issuer(self.server.issuer), name: "test", clientID: "latchkey",
            scopes: ["read", "write"])
        var configuration = OAuthAuthenticator.Configuration(
            provider: provider, userAuthenticator: .consenting(), context: context)
        // What arrives is looked at where it arrives: at servers that the provider doesn't name.
        configuration.origins = .whereverTheCallerAsks
        change(&configuration)
        authenticator = try OAuthAuthenticator(config: configuration)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var request: URLRequest {
        get throws {
            guard let url = URL(string: server.userInfoEndpoint) else { throw URLError(.badURL) }
            return URLRequest(url: url)
        }
    }

    func findings() throws -> [String] {
        try server.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in
            if secret.byteCount >= LeakAudit.minimumByteCount { try audit.plant(secret) }
        }
        return audit.report().findings.map(\.description)
    }
}

/// The status of a response of Foundation's.
func status(_ response: URLResponse) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }
