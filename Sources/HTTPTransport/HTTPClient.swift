public import RedactedLog

/// Sends HTTP requests. Redirects are answers like any other; cookies and caches don't exist.
public protocol HTTPClient: Sendable {
    /// Returns the answer whatever its status, or throws when there is none that is whole and within the limits.
    func send(_ request: consuming HTTPRequest, limits: HTTPLimits) async throws(HTTPError) -> HTTPResponse
}

extension HTTPClient {
    /// Sends with the standard limits: 1 MiB, 30 seconds.
    public func send(_ request: consuming HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await send(request, limits: HTTPLimits())
    }
}

/// Why there is no answer.
public struct HTTPError: RedactedError, Hashable {
    public enum Code: Sendable, Hashable, CaseIterable {
        case cannotResolveHost, cannotConnect, connectionLost, timedOut, cancelled, certificateRefused, bodyTooLarge,
            malformedAnswer, notConfidential, other
    }

    public let code: Code
    /// The host asked, without path and query.
    public let origin: LoggableText
    /// libcurl's error number, or 0.
    public let number: Int

    public init(_ code: Code, origin: LoggableText, number: Int = 0) {
        self.code = code
        self.origin = origin
        self.number = number
    }

    public var codeName: StaticString {
        switch code {
        case .cannotResolveHost: "http.cannot-resolve-host"
        case .cannotConnect: "http.cannot-connect"
        case .connectionLost: "http.connection-lost"
        case .timedOut: "http.timed-out"
        case .cancelled: "http.cancelled"
        case .certificateRefused: "http.certificate-refused"
        case .bodyTooLarge: "http.body-too-large"
        case .malformedAnswer: "http.malformed-answer"
        case .notConfidential: "http.not-confidential"
        case .other: "http.other"
        }
    }

    public var cause: LogMessage {
        switch code {
        case .cannotResolveHost: "the host of \(origin) can't be found"
        case .cannotConnect: "nobody answers at \(origin)"
        case .connectionLost: "the connection to \(origin) broke"
        case .timedOut: "\(origin) did not answer in time"
        case .cancelled: "the request was cancelled"
        case .certificateRefused: "the certificate of \(origin) is not trusted"
        case .bodyTooLarge: "the answer of \(origin) is too large"
        case .malformedAnswer: "the answer of \(origin) is no valid HTTP"
        case .notConfidential: "\(origin) is neither HTTPS nor a loopback address"
        case .other: "the request to \(origin) failed (curl \(number))"
        }
    }

    public var hint: LogMessage? {
        switch code {
        case .cannotResolveHost, .cannotConnect, .connectionLost, .timedOut:
            "check the address and the network, then try again"
        case .certificateRefused: "give the server's own CA with --ca-file, if it has one"
        case .notConfidential: "use the server's https:// address"
        default: nil
        }
    }
}
