internal import Foundation
internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import Synchronization
internal import TestServices

/// Serves authorization server metadata, good and bad, one kind under each path; over HTTP, and over HTTPS with a
/// certificate that nobody trusts. As a host of Mastodon's it registers programs, each time under another client id.
final class MetadataServer: Sendable {
    private static let registrations = Mutex(0)

    private let plain: LoopbackServer
    private let secure: LoopbackServer

    init(certificates: CertificateAuthority) throws {
        plain = try LoopbackServer { request in Self.respond(to: request) }
        let key = Array(try Data(contentsOf: URL(fileURLWithPath: certificates.serverKey)))
        let tls = LoopbackTLS(
            certificatePEM: try String(contentsOfFile: certificates.serverChain, encoding: .utf8),
            key: Secret<PrivateKey>(copying: key.span))
        secure = try LoopbackServer(LoopbackServer.Configuration(tls: tls)) { request in Self.respond(to: request) }
    }

    /// The variables by which transcripts name the servers.
    var environment: [String: String] {
        ["SERVER": plain.origin, "SECURE": secure.origin]
    }

    private static func respond(to request: consuming LoopbackRequest) -> LoopbackResponse {
        if request.path == "/api/v1/apps" {
            let number = registrations.withLock { number in
                number += 1
                return number
            }
            return LoopbackResponse(
                status: 200, contentType: "application/json",
                publicText: #"{"client_id":"client-\#(number)","client_secret":"secret-of-client-\#(number)"}"#)
        }
        let wellKnown = "/.well-known/oauth-authorization-server"
        guard let host = request.field("Host"), request.path.hasPrefix(wellKnown) else { return notFound }
        let kind = String(request.path.dropFirst(wellKnown.count + 1))
        // What it is reached by tells which of the two servers it is.
        func document(issuer: String, endpoints: String) -> LoopbackResponse {
            LoopbackResponse(
                status: 200, contentType: "application/json",
                publicText: """
                    {"issuer":"\(issuer)","authorization_endpoint":"\(endpoints)/authorize",
                     "token_endpoint":"\(endpoints)/token","response_types_supported":["code"]}
                    """)
        }
        switch kind {
        case "good": return document(issuer: "http://\(host)/good", endpoints: "http://\(host)")
        case "secure": return document(issuer: "https://\(host)/secure", endpoints: "https://\(host)")
        case "mismatch": return document(issuer: "http://\(host)/other", endpoints: "http://\(host)")
        case "insecure": return document(issuer: "http://\(host)/insecure", endpoints: "http://server.example")
        case "malformed":
            return LoopbackResponse(status: 200, contentType: "application/json", publicText: "{\"issuer\":")
        case "array": return LoopbackResponse(status: 200, contentType: "application/json", publicText: "[]")
        case "broken": return LoopbackResponse(status: 500, contentType: "text/plain", publicText: "out of order")
        default: return notFound
        }
    }

    private static var notFound: LoopbackResponse {
        LoopbackResponse(status: 404, contentType: "text/plain", publicText: "no such page")
    }
}
