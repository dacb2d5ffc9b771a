public import LatchkeyHTTP
public import LatchkeyLog

/// Why a resource that an access token opens gave no usable response.
public struct ResourceError: RedactedError, Hashable {
    /// Codes by the status of the response (RFC 9110 section 15), or by the reason that no response is usable.
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
        /// No complete response arrived.
        case networkError(TransportError)
    }

    /// The code that a program decides by: `rateLimited` may pass, `unauthorized` needs another token.
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

    public var explanation: Explanation {
        switch code {
        case .unauthorized:
            .init(.refused, "resource.unauthorized", "the service does not accept the token", hint: "sign in again")
        case .forbidden:
            .init(
                .refused, "resource.forbidden", "the token's scopes don't allow this request",
                hint: "sign in again with more scopes")
        case .rateLimited:
            .init(.tryAgain, "resource.rate-limited", "the service got too many requests", hint: "try again later")
        case .refused(let status):
            .init(
                status >= 500 ? .unavailable : .protocolError, "resource.refused",
                "the service did not respond as it should (status \(status))", hint: "try again later")
        case .invalidResponse:
            .init(.protocolError, "resource.invalid-response", "the service's response is invalid")
        case .networkError(let error): error.explanation
        }
    }
}
