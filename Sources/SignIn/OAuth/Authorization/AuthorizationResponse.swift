public import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

/// A parsed response of the authorization endpoint that isn't validated yet (RFC 6749 section 4.1.2).
///
/// Its only use is ``PendingAuthorization/validate(_:)``. An `error_description` isn't stored.
public struct AuthorizationResponse: ~Copyable, Sendable {
    let state: Secret<AuthorizationState>?
    let code: Secret<AuthorizationCode>?
    /// RFC 9207; public text, at most `maximumIssuerByteCount` bytes.
    let issuer: String?
    /// The `error` of an error response.
    package let error: ServerErrorCode?

    /// Of a whole query or pasted URL.
    package static let maximumByteCount = 32 << 10
    package static let maximumParameterCount = 64
    static let maximumIssuerByteCount = 2048
    static let maximumCodeByteCount = 16 << 10
    static let maximumStateByteCount = 1024

    /// Takes a query apart, without its question mark: for a listener that has compared the path it came to, which
    /// tells whose response it is (RFC 9700 section 4.4.2.2). A whole address is for `init(pasted:redirect:)`, which
    /// compares it.
    ///
    /// Throws `.invalidResponse`: `.tooLarge`; `.malformedQuery` for anything that is not
    /// application/x-www-form-urlencoded; `.duplicateParameter` when any name comes twice (RFC 6749 section 3.1);
    /// `.neitherCodeNorError` when it has none of the two, or both. A parameter without a value counts as absent.
    package init(query: Span<UInt8>) throws(OAuthError) {
        let fields = try RedirectQuery(query)
        let code = try fields.secret("code", as: AuthorizationCode.self, limit: Self.maximumCodeByteCount)
        let state = try fields.secret("state", as: AuthorizationState.self, limit: Self.maximumStateByteCount)
        let issuer = try fields.text("iss", limit: Self.maximumIssuerByteCount)
        let error = try fields.text("error", limit: 128).map(ServerErrorCode.init(text:))
        let hasCode = code != nil
        guard hasCode != (error != nil) else { throw OAuthError(.invalidResponse(.neitherCodeNorError)) }
        self.code = code
        self.state = state
        self.issuer = issuer
        self.error = error
    }

    /// Takes an address apart that is in guarded memory, as a prompt has it; see `init(pasted:redirect:)`.
    ///
    /// Throws as `init(pasted:redirect:)` of a span.
    public init<Purpose: SecretPurpose>(
        pasted address: borrowing Secret<Purpose>, redirect: RedirectURI
    ) throws(OAuthError) {
        self = try address.withExposedBytes { (bytes) throws(OAuthError) in
            try AuthorizationResponse(pasted: bytes, redirect: redirect)
        }
    }

    /// Parses the address that a user copied from the browser. White space around it is ignored.
    ///
    /// The part before the question mark must be `redirect`; otherwise the call throws
    /// `.invalidResponse(.notThisRedirect)`. The part after a `#` isn't part of the response.
    ///
    /// Throws `.invalidResponse` with the problem, such as `.tooLarge` for more than 32 KiB. An error that the server
    /// sent is a response like any other.
    public init(pasted text: Span<UInt8>, redirect: RedirectURI) throws(OAuthError) {
        var start = 0
        var end = text.count
        while start < end, text[start] <= 0x20 { start += 1 }
        while end > start, text[end - 1] <= 0x20 { end -= 1 }
        guard end - start <= Self.maximumByteCount else { throw OAuthError(.invalidResponse(.tooLarge)) }
        for index in start..<end where text[index] == UInt8(ascii: "#") {
            end = index
            break
        }
        var mark = start
        while mark < end, text[mark] != UInt8(ascii: "?") { mark += 1 }
        guard Self.isAddress(text.extracting(start..<mark), of: redirect) else {
            throw OAuthError(.invalidResponse(.notThisRedirect))
        }
        guard mark < end else { throw OAuthError(.invalidResponse(.neitherCodeNorError)) }
        try self.init(query: text.extracting(mark + 1..<end))
    }

    /// Whether its state is this one. The comparison takes constant time.
    borrowing func has(_ ours: borrowing Secret<AuthorizationState>) -> Bool {
        switch state {
        case .some(let theirs): ours.matches(theirs)
        case .none: false
        }
    }

    /// Browsers write an empty path as a slash.
    private static func isAddress(_ bytes: Span<UInt8>, of redirect: RedirectURI) -> Bool {
        ASCII.equal(bytes, redirect.text)
            || (redirect.kind != .privateUse && redirect.path == "/" && !redirect.text.hasSuffix("/")
                && ASCII.equal(bytes, redirect.text + "/"))
    }
}

/// Admits the first response that belongs to an attempt, and none after it.
///
/// A loopback listener, a paste prompt and a handler of a private-use scheme can share one gate: forged responses
/// change nothing, even if they arrive first.
package final class AuthorizationResponseGate: Sendable {
    package enum Admission: Sendable, Hashable {
        /// The first response that belongs to the attempt.
        case admitted
        /// Its state is missing or another: another account's, or forged.
        case foreign
        /// It belongs to the attempt, which has its response already.
        case repeated
    }

    private let state: Secret<AuthorizationState>
    private let isOpen = Mutex(true)

    init(state: consuming Secret<AuthorizationState>) {
        self.state = state
    }

    /// Compares the state in constant time. An error response is admitted like any other: it ends the attempt.
    package func admit(_ response: borrowing AuthorizationResponse) -> Admission {
        guard response.has(state) else { return .foreign }
        return isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen ? .admitted : .repeated
        }
    }
}

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

    /// The range of a parameter's value, or `nil` if it is absent or empty (RFC 6749 section 3.1).
    private borrowing func range(_ name: StaticString, limit: Int) throws(OAuthError) -> Range<Int>? {
        let name = Array(name.description.utf8)
        guard let field = fields.first(where: { $0.name == name }), !field.value.isEmpty else { return nil }
        guard field.value.count <= limit else { throw OAuthError(.invalidResponse(.tooLarge)) }
        return field.value
    }

    /// Returns a secret parameter, or `nil`. The value must be printable ASCII, as OAuth requires.
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

    /// Returns a parameter that isn't secret, or `nil`.
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
