package import LatchkeySecrets
internal import LatchkeySystem

/// The sink that writes secrets into a form in guarded memory: the body of a token, revocation or similar request, or
/// the query of an authorization request.
///
/// A code, a verifier, a refresh token or a client secret can only reach a server's endpoint through this type.
package struct FormFieldSink: SecretSink, ~Copyable {
    package static var reason: StaticString { "OAuth sends codes, verifiers, tokens and state as form fields" }

    var output: SecretBuilder
    let space: FormEncoding.Space

    /// Percent-encodes the bytes as the value of the field begun last.
    package mutating func receive(_ bytes: Span<UInt8>) throws(SecretBuilder.LimitExceeded) {
        try FormEncoding.append(bytes, to: &output, space: space)
    }
}

/// A form in guarded memory, built field by field.
struct FormBody: ~Copyable {
    private var sink: FormFieldSink
    private var needsSeparator: Bool

    /// The limit in bytes: enough for a code, a verifier and a refresh token of the maximum length.
    static let limit = 64 << 10

    init() {
        sink = FormFieldSink(output: SecretBuilder(capacity: 1008, limit: Self.limit), space: .plus)
        needsSeparator = false
    }

    /// Goes on after fields that are already finished.
    init(after fields: borrowing Secret<MessageBody>) throws(OAuthError) {
        self.init()
        needsSeparator = !fields.isEmpty
        try mapError(OAuthError.tooLarge, of: sink.output.append(fields))
    }

    /// Goes on after text that is already there; spaces become `%20`, which a reader of URLs understands too.
    init(queryAfter text: String, needsSeparator: Bool) throws(OAuthError) {
        sink = FormFieldSink(output: SecretBuilder(capacity: 1008, limit: Self.limit), space: .percent)
        self.needsSeparator = needsSeparator
        try mapError(
            OAuthError.tooLarge,
            of: sink.output.append(publicText: text))
    }

    /// Appends a field with a value that isn't secret.
    mutating func append(_ name: String, text: String) throws(OAuthError) {
        let bytes = Array(text.utf8)
        try mappingError(OAuthError.tooLarge) {
            () throws(SecretBuilder.LimitExceeded) in
            try begin(name)
            try sink.receive(bytes.span)
        }
    }

    /// Appends a field whose value is a secret.
    mutating func append<Purpose: SecretPurpose>(
        _ name: String, secret: borrowing Secret<Purpose>
    ) throws(OAuthError) {
        try mappingError(OAuthError.tooLarge) {
            () throws(SecretBuilder.LimitExceeded) in
            try begin(name)
            try secret.pour(into: &sink)
        }
    }

    private mutating func begin(_ name: String) throws(SecretBuilder.LimitExceeded) {
        if needsSeparator { try sink.output.append(UInt8(ascii: "&")) }
        needsSeparator = true
        let bytes = Array(name.utf8)
        try sink.receive(bytes.span)
        try sink.output.append(UInt8(ascii: "="))
    }

    consuming func finish<Purpose: SecretPurpose>(as purpose: Purpose.Type) -> Secret<Purpose> {
        sink.output.finish(as: purpose)
    }
}

/// application/x-www-form-urlencoded (RFC 6749 appendix B), of bytes in guarded memory.
enum FormEncoding {
    /// The form of a space. Parsers of forms accept both; parsers of URLs only `%20`.
    enum Space {
        case plus
        case percent
    }

    /// Appends `bytes` to `output`: letters, digits and `*-._` as they are, everything else as `%XX`.
    static func append(
        _ bytes: Span<UInt8>, to output: inout SecretBuilder, space: Space
    ) throws(SecretBuilder.LimitExceeded) {
        let isPlus = space == .plus
        try PercentEncoding.encode(bytes) { byte in
            byte == UInt8(ascii: "~")
                ? !isPlus : ASCII.isUnreserved(byte) || byte == UInt8(ascii: "*") || isPlus && byte == 0x20
        } to: { (byte) throws(SecretBuilder.LimitExceeded) in
            try output.append(isPlus && byte == 0x20 ? UInt8(ascii: "+") : byte)
        }
    }

    /// Decodes `bytes` into `output`: `+` is a space, `%` needs two hexadecimal digits behind it.
    ///
    /// Returns false for anything else: a lone `%`, white space, a control character, a byte outside ASCII.
    static func decode(
        _ bytes: Span<UInt8>, into output: inout SecretBuilder
    ) throws(SecretBuilder.LimitExceeded) -> Bool {
        for index in bytes.indices where !(0x21...0x7E).contains(bytes[index]) { return false }
        return try output.append(percentDecoding: bytes, plusIsSpace: true)
    }
}
