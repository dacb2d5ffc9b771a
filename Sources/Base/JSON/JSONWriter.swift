package import LatchkeySecrets
internal import LatchkeySystem

/// Writes one JSON object (RFC 8259) into guarded memory: a session for its store, a request's body.
///
///     var json = JSONWriter()
///     try json.member("access_token", secret: token)
///     try json.member("expires_at", integer: 1_790_000_000)
///     let session = json.finish(as: StoredLogin.self)
///
/// Values are secrets, integers, truth values, text that isn't secret, and lists of such text. Each member name may be
/// written once, as `JSONDocument` requires; writing it twice stops the process.
package struct JSONWriter: ~Copyable, Sendable {
    private var output: SecretBuilder
    private var names: [String] = []

    /// In bytes.
    package static let defaultLimit = 256 << 10

    /// - Parameter limit: in bytes, of the finished text.
    package init(limit: Int = JSONWriter.defaultLimit) {
        output = SecretBuilder(capacity: 1008, limit: limit)
        names.reserveCapacity(8)
    }

    // MARK: - Members

    /// Writes a secret as a string. Throws `.invalidUTF8` when it is none; binary secrets go in as base64url.
    package mutating func member<Purpose: SecretPurpose>(
        _ name: StaticString, secret: borrowing Secret<Purpose>
    ) throws(JSONError) {
        try begin(name)
        try secret.withExposedBytes { (bytes) throws(JSONError) in
            guard (try? UTF8Span(validating: bytes)) != nil else { throw JSONError(.invalidUTF8) }
            try append(quoting: bytes)
        }
    }

    /// Writes text that isn't secret.
    package mutating func member(_ name: StaticString, publicText text: String) throws(JSONError) {
        try begin(name)
        try append(quoting: text.utf8.span)
    }

    /// Writes a list of texts that aren't secret.
    package mutating func member(_ name: StaticString, publicTexts texts: [String]) throws(JSONError) {
        try begin(name)
        try append("[")
        for (index, text) in texts.enumerated() {
            if index > 0 { try append(",") }
            try append(quoting: text.utf8.span)
        }
        try append("]")
    }

    package mutating func member(_ name: StaticString, integer: Int64) throws(JSONError) {
        try begin(name)
        try append(integer.description)
    }

    package mutating func member(_ name: StaticString, boolean: Bool) throws(JSONError) {
        try begin(name)
        try append(boolean ? "true" : "false")
    }

    /// Ends the object and returns it.
    package consuming func finish<Purpose: SecretPurpose>(as purpose: Purpose.Type) throws(JSONError) -> Secret<Purpose>
    {
        try append(names.isEmpty ? "{}" : "}")
        return output.finish(as: purpose)
    }

    // MARK: - Bytes

    private mutating func begin(_ name: StaticString) throws(JSONError) {
        try append(names.isEmpty ? "{" : ",")
        let name = name.description
        precondition(!names.contains(name), "a JSON member is written twice")
        names.append(name)
        try append(quoting: name.utf8.span)
        try append(":")
    }

    private mutating func append(_ text: String) throws(JSONError) {
        try mapError({ (_: SecretBuilder.LimitExceeded) in JSONError(.tooLarge) }, of: output.append(publicText: text))
    }

    /// Takes UTF-8. Escapes what must be: quotation marks, backslashes and control characters.
    private mutating func append(quoting bytes: Span<UInt8>) throws(JSONError) {
        do throws(SecretBuilder.LimitExceeded) {
            try output.append(UInt8(ascii: "\""))
            var plain = 0
            for index in bytes.indices {
                let byte = bytes[index]
                let isQuoted = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                guard isQuoted || byte < 0x20 else { continue }
                try output.append(bytes.extracting(plain..<index))
                plain = index + 1
                if isQuoted {
                    try output.append(UInt8(ascii: "\\"))
                    try output.append(byte)
                } else {
                    try output.append(publicText: "\\u00")
                    try output.append(ASCII.hexDigit(byte >> 4))
                    try output.append(ASCII.hexDigit(byte & 15))
                }
            }
            try output.append(bytes.extracting(plain..<bytes.count))
            try output.append(UInt8(ascii: "\""))
        } catch {
            throw JSONError(.tooLarge)
        }
    }
}
