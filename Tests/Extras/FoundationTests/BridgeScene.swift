import Foundation
import FoundationNetworking
import LatchkeyCredentials
import LatchkeyFoundation
import LatchkeyHTTP
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeyLoopback
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization
import TestSecrets

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

/// A server that responds as it was told, and remembers what came.
final class Echo: Sendable {
    struct Request: Sendable {
        let target: String
        let fields: [String: String]
        let body: String
    }

    private final class Seen: Sendable { let requests = Mutex<[Request]>([]) }

    private let log = Seen()
    private let server: LoopbackServer

    init(status: Int = 200, fields: [(String, String)] = [], maximumBodyByteCount: Int = 16 << 20) throws {
        let configuration = LoopbackServer.Configuration(
            methods: Set(LoopbackMethod.allCases), maximumBodyByteCount: maximumBodyByteCount)
        server = try LoopbackServer(configuration) { [log] request in
            var target = "\(request.method.rawValue) \(request.path)"
            switch request.query {
            case .some(let query): target += "?" + query.testText
            case .none: break
            }
            var came = Dictionary(
                request.fields.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
            switch request.authorization {
            case .some(let value): came["authorization"] = value.testText
            case .none: break
            }
            let seen = Request(target: target, fields: came, body: request.body.testText)
            log.requests.withLock { $0.append(seen) }
            return LoopbackResponse(status: status, fields: fields.map { LoopbackField($0.0, $0.1) })
        }
    }

    var seen: [Request] { log.requests.withLock { $0 } }
    func url(_ path: String) -> URL {
        guard let url = URL(string: server.origin + path) else { preconditionFailure("no address") }
        return url
    }
}
