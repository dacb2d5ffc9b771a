internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// Puts together responses that hold secrets: JSON, forms, the `Location` of a redirect. Never through `String`.
struct SecretText: ~Copyable {
    private var builder = SecretBuilder()

    init() {}

    /// Text that is no secret, as it is.
    mutating func add(_ text: String) {
        must { (builder) throws(SecretBuilder.LimitExceeded) in try builder.append(publicText: text) }
    }

    /// A secret as it is: for ours, which are base64url.
    mutating func add(_ secret: KeptSecret) {
        must { (builder) throws(SecretBuilder.LimitExceeded) in try builder.append(secret.value) }
    }

    /// Text with everything but RFC 3986's unreserved characters escaped.
    mutating func addEscaped(_ text: String) {
        let bytes = Array(text.utf8)
        addEscaped(bytes.span)
    }

    mutating func addEscaped(_ secret: KeptSecret) {
        secret.value.withExposedBytes { addEscaped($0) }
    }

    /// A JSON string in quotes.
    mutating func addQuoted(_ text: String) {
        add(JSONText.quote(text))
    }

    consuming func finish() -> Secret<MessageBody> {
        builder.finish(as: MessageBody.self)
    }

    private mutating func addEscaped(_ bytes: Span<UInt8>) {
        must { (builder) throws(SecretBuilder.LimitExceeded) in
            try PercentEncoding.encode(bytes) { (byte) throws(SecretBuilder.LimitExceeded) in try builder.append(byte) }
        }
    }

    private mutating func must(_ body: (inout SecretBuilder) throws(SecretBuilder.LimitExceeded) -> Void) {
        if failure(SecretBuilder.LimitExceeded.self, of: try body(&builder)) != nil {
            preconditionFailure("a builder without a limit refused bytes")
        }
    }
}

/// JSON that holds no secret.
extension JSONText {
    static func list(_ items: [String]) -> String { "[" + items.map(quote).joined(separator: ",") + "]" }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { quote($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
    }
}
