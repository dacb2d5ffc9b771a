internal import LatchkeySecrets
internal import LatchkeySystem

/// The parameters of a redirect's query, decoded into guarded memory, each name once.
struct RedirectQuery: ~Copyable {
    private struct Field {
        let name: [UInt8]
        /// In `values`.
        let value: Range<Int>
    }

    private var fields: [Field] = []
    private var values = SecretBuilder(capacity: 1008, limit: AuthorizationResponse.maximumByteCount)

    private static let maximumNameByteCount = 256

    init(_ query: Span<UInt8>) throws(OAuthError) {
        guard query.count <= AuthorizationResponse.maximumByteCount else {
            throw OAuthError(.invalidResponse(.tooLarge))
        }
        var start = 0
        while start < query.count {
            var end = start
            var equals: Int?
            while end < query.count, query[end] != UInt8(ascii: "&") {
                if equals == nil, query[end] == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            if end > start {
                try append(
                    name: query.extracting(start..<(equals ?? end)),
                    value: query.extracting(min((equals ?? end) + 1, end)..<end))
            }
            start = end + 1
        }
    }

    private mutating func append(name: Span<UInt8>, value: Span<UInt8>) throws(OAuthError) {
        guard fields.count < AuthorizationResponse.maximumParameterCount else {
            throw OAuthError(.invalidResponse(.tooLarge))
        }
        let nameStart = values.byteCount
        try decode(name)
        let nameRange = nameStart..<values.byteCount
        guard (1...Self.maximumNameByteCount).contains(nameRange.count) else {
            throw OAuthError(.invalidResponse(.malformedQuery))
        }
        let decodedName = values.withExposedBytes { bytes in
            var name: [UInt8] = []
            for index in nameRange { name.append(bytes[index]) }
            return name
        }
        guard !fields.contains(where: { $0.name == decodedName }) else {
            throw OAuthError(.invalidResponse(.duplicateParameter))
        }
        let valueStart = values.byteCount
        try decode(value)
        fields.append(Field(name: decodedName, value: valueStart..<values.byteCount))
    }

    private mutating func decode(_ bytes: Span<UInt8>) throws(OAuthError) {
        let valid = try mapError(
            { (_: SecretBuilder.LimitExceeded) in OAuthError(.invalidResponse(.tooLarge)) },
            of: FormEncoding.decode(bytes, into: &values))
        guard valid else { throw OAuthError(.invalidResponse(.malformedQuery)) }
    }

    /// Where the value of a parameter is, or `nil` when it is absent or empty (RFC 6749 section 3.1).
    private borrowing func range(_ name: StaticString, limit: Int) throws(OAuthError) -> Range<Int>? {
        let name = Array(name.description.utf8)
        guard let field = fields.first(where: { $0.name == name }), !field.value.isEmpty else { return nil }
        guard field.value.count <= limit else { throw OAuthError(.invalidResponse(.tooLarge)) }
        return field.value
    }

    /// Returns a parameter that is a secret, or `nil`. It must be printable ASCII, as all of OAuth's are.
    borrowing func secret<Purpose: SecretPurpose>(
        _ name: StaticString, as purpose: Purpose.Type, limit: Int
    ) throws(OAuthError) -> Secret<Purpose>? {
        guard let range = try range(name, limit: limit) else { return nil }
        return try values.withExposedBytes { (bytes) throws(OAuthError) -> Secret<Purpose>? in
            let value = bytes.extracting(range)
            guard ASCII.isVisible(value, limit: limit) else { throw OAuthError(.invalidResponse(.malformedQuery)) }
            return Secret<Purpose>(copying: value)
        }
    }

    /// Returns a parameter that is no secret, or `nil`.
    borrowing func text(_ name: StaticString, limit: Int) throws(OAuthError) -> String? {
        guard let range = try range(name, limit: limit) else { return nil }
        return try values.withExposedBytes { (bytes) throws(OAuthError) -> String in
            let value = bytes.extracting(range)
            guard ASCII.isVisible(value, limit: limit) else { throw OAuthError(.invalidResponse(.malformedQuery)) }
            var text = ""
            for index in value.indices { text.unicodeScalars.append(Unicode.Scalar(value[index])) }
            return text
        }
    }
}
