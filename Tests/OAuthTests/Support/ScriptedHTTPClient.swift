import HTTPTransport
import RedactedLog
import Secrets
import Synchronization

/// Answers requests from a script, in order, and keeps what was asked.
final class ScriptedHTTPClient: HTTPClient {
    struct Request: Sendable {
        let method: HTTPMethod
        let url: String
        let fields: [HTTPField]
        let authorization: String?
        let body: String
        let limits: HTTPLimits
    }

    enum Answer: Sendable {
        case status(Int, String, type: String = "application/json")
        case failure(HTTPError.Code)

        static func json(_ text: String) -> Answer { .status(200, text) }
    }

    private let script: Mutex<[Answer]>
    private let kept = Mutex<[Request]>([])

    init(_ script: Answer...) {
        self.script = Mutex(script)
    }

    /// All requests so far, oldest first.
    var requests: [Request] { kept.withLock { $0 } }

    func send(_ request: consuming HTTPRequest, limits: HTTPLimits) async throws(HTTPError) -> HTTPResponse {
        let authorization: String? =
            switch request.authorization {
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
            body: body, limits: limits)
        kept.withLock { $0.append(seen) }
        let origin = LoggableText(reviewed: "a test's own origin", unredacted: request.url.origin)
        guard let answer = script.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            throw HTTPError(.cannotConnect, origin: origin)
        }
        switch answer {
        case .failure(let code): throw HTTPError(code, origin: origin)
        case .status(let status, let text, let type):
            return HTTPResponse(
                status: status, fields: [HTTPField("Content-Type", type)!], body: Secret<MessageBody>(text))
        }
    }
}
