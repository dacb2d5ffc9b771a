public import LatchkeyLog

extension GuardedRequest {
    /// A request method (RFC 9110 section 9).
    public enum Method: String, Sendable, Hashable, CaseIterable, Loggable {
        /// GET (RFC 9110 section 9.3.1).
        case get = "GET"
        /// HEAD (RFC 9110 section 9.3.2).
        case head = "HEAD"
        /// POST (RFC 9110 section 9.3.3).
        case post = "POST"
        /// PUT (RFC 9110 section 9.3.4).
        case put = "PUT"
        /// PATCH (RFC 5789).
        case patch = "PATCH"
        /// DELETE (RFC 9110 section 9.3.5).
        case delete = "DELETE"

        /// Safe: one of six words.
        public var logMessage: LogMessage {
            "\(LoggableText(reviewed: "one of six methods", unredacted: rawValue))"
        }
    }
}

/// A header field without a secret (RFC 9110 section 5).
public struct HeaderField: Sendable, Hashable {
    /// As written; compared without regard to case.
    public let name: String
    /// Printable ASCII, spaces and tabs; may be empty.
    public let value: String

    /// Returns `nil` if the name isn't a token, or if the value contains control characters or non-ASCII.
    public init?(_ name: String, _ value: String) {
        let isToken =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
        guard isToken, value.utf8.allSatisfy({ ($0 >= 0x20 && $0 < 0x7F) || $0 == 0x09 }) else { return nil }
        self.name = name
        self.value = value
    }

    /// The lower-case names of the fields that a transport writes, and of those with a separate property of the
    /// request.
    package static let transportNames: Set<String> = [
        "authorization", "connection", "content-length", "cookie", "dpop", "expect", "host", "proxy-authorization",
        "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

/// An HTTP request. Noncopyable, because its `Authorization` and its body may be secrets.
@frozen public struct GuardedRequest: ~Copyable, Sendable {
    /// ``CurlTransport`` never sends a request twice unless it is a GET or a HEAD.
    public let method: Method
    /// Plain HTTP goes to loopback addresses alone; for others the transports here throw `notConfidential`.
    public let url: HTTPURL
    /// The fields that aren't secret.
    public var fields: [HeaderField]
    /// The whole value of the `Authorization` field, such as `Bearer …`. Use `SignInService.send` or an authenticator
    /// for a session's token.
    public var authorization: Secret<MessageBody>?
    /// The whole value of the `DPoP` field (RFC 9449): a proof for this request alone.
    public var proof: Secret<MessageBody>?
    /// Sent verbatim; `nil` sends no body. The caller puts its `Content-Type` into `fields`.
    public var body: Secret<MessageBody>?

    /// Leaves `proof` unset. The transports here throw `malformedRequest` for a field that the transport writes, such as `Host`, and
    /// for an `authorization` or a `proof` that is empty or has other characters than printable ASCII.
    public init(
        _ method: Method, _ url: HTTPURL, fields: [HeaderField] = [],
        authorization: consuming Secret<MessageBody>? = nil, body: consuming Secret<MessageBody>? = nil
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.authorization = authorization
        self.proof = nil
        self.body = body
    }

    /// Whether a transport may send it: no field is one that the transport writes, and both secret fields are printable
    /// ASCII.
    package var isWellFormed: Bool {
        !fields.contains { HeaderField.transportNames.contains($0.name.lowercased()) }
            && Self.isFieldValue(authorization) && Self.isFieldValue(proof)
    }

    private static func isFieldValue(_ value: borrowing Secret<MessageBody>?) -> Bool {
        switch value {
        case .some(let value): value.withExposedBytes { ASCII.isVisible($0, limit: .max) }
        case .none: true
        }
    }
}

/// An HTTP response, whole. Its body is treated as a secret until someone has taken it apart.
@frozen public struct GuardedResponse: ~Copyable, Sendable {
    /// Of the final response (RFC 9110 section 15). A redirect is a response like any other.
    public let status: Int
    /// Ordinary text. A name may come more than once; a field with a value outside ASCII is left out.
    public let fields: [HeaderField]
    /// Empty when there is none; at most ``TransferLimits/maximumBodyByteCount`` bytes.
    public let body: Secret<MessageBody>
    /// Whether the connection's address isn't public; false if that is unknown, as with a proxy.
    package let isFromPrivateAddress: Bool

    /// For a transport of the caller's own.
    public init(status: Int, fields: [HeaderField], body: consuming Secret<MessageBody>) {
        self.init(status: status, fields: fields, body: body, isFromPrivateAddress: false)
    }

    package init(status: Int, fields: [HeaderField], body: consuming Secret<MessageBody>, isFromPrivateAddress: Bool) {
        self.status = status
        self.fields = fields
        self.body = body
        self.isFromPrivateAddress = isFromPrivateAddress
    }

    /// Whether the status is one of 200 to 299.
    public var isSuccess: Bool { (200...299).contains(status) }

    /// The value of the first field with this name, whatever its case.
    public func field(_ name: String) -> String? {
        fields.first { $0.name.hasSameOctetsButForCase(as: name) }?.value
    }
}

/// How large and how slow a response may be.
public struct TransferLimits: Sendable, Hashable {
    /// The largest accepted body in bytes.
    public var maximumBodyByteCount: Int
    /// From the start of the call to the end of the response.
    public var timeout: Duration

    /// 1 MiB and 30 seconds unless told otherwise.
    public init(maximumBodyByteCount: Int = 1 << 20, timeout: Duration = .seconds(30)) {
        self.maximumBodyByteCount = maximumBodyByteCount
        self.timeout = timeout
    }

    /// The timeout, between zero and a day.
    package var boundedTimeout: Duration { min(max(timeout, .zero), .seconds(86_400)) }
}
