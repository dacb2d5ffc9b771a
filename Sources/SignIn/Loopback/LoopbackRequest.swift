package import LatchkeySecrets

/// The methods that the server knows (RFC 9110 section 9).
package enum LoopbackMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// A header field without a secret.
package struct LoopbackField: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request as it came in. Noncopyable, because its query, its `Authorization` and its body may be secrets.
@frozen package struct LoopbackRequest: ~Copyable, Sendable {
    package let method: LoopbackMethod
    /// As written, percent-encoding included; starts with a slash. Whoever connects chooses it: not for logs.
    package let path: String
    /// The text after the question mark, verbatim; `nil` without a question mark.
    package let query: Secret<MessageBody>?
    /// The whole value of `Authorization`.
    package let authorization: Secret<MessageBody>?
    /// Empty when there is none.
    package let body: Secret<MessageBody>
    package let peer: LoopbackPeer
    /// All fields but `Authorization`, `Proxy-Authorization` and `Cookie`, which are not kept as text.
    package let fields: [LoopbackField]

    /// The value of the first field with this name, whatever its case.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.hasSameOctetsButForCase(as: name) }?.value
    }
}
