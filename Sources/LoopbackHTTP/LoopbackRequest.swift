public import LatchkeySecrets

/// The methods that the server knows (RFC 9110 section 9).
public enum LoopbackMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// A header field that holds no secret.
public struct LoopbackField: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request as it came in. Noncopyable, because its query, its `Authorization` and its body may be secrets.
@frozen public struct LoopbackRequest: ~Copyable, Sendable {
    public let method: LoopbackMethod
    /// As written, percent-encoding included; starts with a slash. Whoever connects chooses it: not for logs.
    public let path: String
    /// What stands behind the question mark, as written; `nil` without one.
    public let query: Secret<MessageBody>?
    /// The whole value of `Authorization`.
    public let authorization: Secret<MessageBody>?
    /// Empty when there is none.
    public let body: Secret<MessageBody>
    public let peer: LoopbackPeer
    /// All fields but `Authorization`, `Proxy-Authorization` and `Cookie`, which are not kept as text.
    public let fields: [LoopbackField]

    /// The value of the first field with this name, whatever its case.
    public func field(_ name: String) -> String? {
        fields.first { $0.name.hasSameOctetsButForCase(as: name) }?.value
    }
}
