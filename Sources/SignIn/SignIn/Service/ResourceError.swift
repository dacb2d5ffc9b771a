public import LatchkeyHTTP
public import LatchkeyLog

/// Why a resource that an access token opens gave no usable response.
public struct ResourceError: RedactedError, Hashable {
    /// By the status of the response (RFC 9110 section 15), or why there is none that can be used.
    public enum Code: Sendable, Hashable {
        /// The token is not accepted (401).
        case unauthorized
        /// The token doesn't reach so far (403).
        case forbidden
        /// Too many requests (429, or 403 with GitHub's sign of it).
        case rateLimited
        /// Any other status than 2xx.
        case refused(statusCode: Int)
        /// The response can't be understood.
        case invalidResponse
        /// There is no whole response.
        case networkError(TransportError)
    }

    /// What a program decides by: `rateLimited` may pass, `unauthorized` needs another token.
    public let code: Code

    package init(_ code: Code) {
        self.code = code
    }

    /// The error of a response's status, or `nil` for 2xx.
    init?(_ response: borrowing GuardedResponse) {
        switch response.status {
        case 200...299: return nil
        case 401: code = .unauthorized
        case 429: code = .rateLimited
        case 403: code = response.field("X-RateLimit-Remaining") == "0" ? .rateLimited : .forbidden
        case let status: code = .refused(statusCode: status)
        }
    }

    public var codeName: StaticString {
        switch code {
        case .unauthorized: "resource.unauthorized"
        case .forbidden: "resource.forbidden"
        case .rateLimited: "resource.rate-limited"
        case .refused: "resource.refused"
        case .invalidResponse: "resource.invalid-response"
        case .networkError(let error): error.codeName
        }
    }

    public var cause: LogMessage {
        switch code {
        case .unauthorized: "the service does not accept the token"
        case .forbidden: "the token does not reach so far"
        case .rateLimited: "the service got too many requests"
        case .refused(let status): "the service did not respond as it should (status \(status))"
        case .invalidResponse: "the service's response can't be understood"
        case .networkError(let error): error.cause
        }
    }

    public var hint: LogMessage? {
        switch code {
        case .unauthorized: "sign in again"
        case .forbidden: "sign in again with more scopes"
        case .rateLimited, .refused: "try again later"
        case .invalidResponse: nil
        case .networkError(let error): error.hint
        }
    }
}
