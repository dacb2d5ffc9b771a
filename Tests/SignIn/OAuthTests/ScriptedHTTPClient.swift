import LatchkeyHTTP
import LatchkeyLog
import LatchkeySecrets
import Synchronization

/// Responds to requests from a script, in order, and keeps what was requested.
final class ScriptedHTTPClient: HTTPTransport {
    struct Request: Sendable {
        let method: GuardedRequest.Method
        let url: String
        let fields: [HeaderField]
        let authorization: String?
        let proof: String?
        let body: String
        let limits: TransferLimits
    }

    enum Response: Sendable {
        case status(Int, String, type: String = "application/json")
        case fields(Int, [HeaderField], String = "{}")
        case failure(TransportError.Code)

        static func json(_ text: String) -> Response { .status(200, text) }
    }

    private let script: Mutex<[Response]>
    private let kept = Mutex<[Request]>([])

    private let always: Response?

    init(_ script: [Response]) {
        self.script = Mutex(script)
        always = nil
    }

    convenience init(_ script: Response...) { self.init(script) }

    /// Responds to everything the same.
    init(repeating response: Response) {
        script = Mutex([])
        always = response
    }

    /// All requests so far, oldest first.
    var requests: [Request] { kept.withLock { $0 } }

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        let authorization: String? =
            switch request.authorization {
            case .some(let value): value.reveal()
            case .none: nil
            }
        let proof: String? =
            switch request.proof {
            case .some(let value): value.reveal()
            case .none: nil
            }
        let body =
            switch request.body {
            case .some(let value): value.reveal()
            case .none: ""
            }
        let seen = Request(
            method: request.method, url: request.url.text, fields: request.fields, authorization: authorization,
            proof: proof, body: body, limits: limits)
        kept.withLock { $0.append(seen) }
        let origin = LoggableText(reviewed: "a test's own origin", unredacted: request.url.origin)
        guard let response = script.withLock({ $0.isEmpty ? always : $0.removeFirst() }) else {
            throw TransportError(.cannotConnect, origin: origin)
        }
        switch response {
        case .failure(let code): throw TransportError(code, origin: origin)
        case .fields(let status, let fields, let text):
            return GuardedResponse(
                status: status, fields: [HeaderField("Content-Type", "application/json")!] + fields,
                body: Secret<MessageBody>(text))
        case .status(let status, let text, let type):
            return GuardedResponse(
                status: status, fields: [HeaderField("Content-Type", type)!], body: Secret<MessageBody>(text))
        }
    }
}
