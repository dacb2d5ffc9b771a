import Foundation
import LatchkeyLoopback
import LatchkeySecrets
import Synchronization
import TestSecrets

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
