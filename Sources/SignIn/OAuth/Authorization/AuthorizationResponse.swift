internal import LatchkeySystem
public import LatchkeySecrets

/// What came back from the authorization endpoint, taken apart but not yet validated (RFC 6749 section 4.1.2).
///
/// Nothing can be done with it but to show it to ``PendingAuthorization/validate(_:)``.
/// An `error_description` is not kept.
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

    /// Takes the address apart that a person copied from the browser, white space around it ignored.
    ///
    /// What stands before the question mark must be `redirect`, else `.invalidResponse(.notThisRedirect)`. What stands
    /// behind a `#` is not part of the response.
    ///
    /// Throws `.invalidResponse` with what is wrong. An error that the server sent is a response like any other.
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

    /// Browsers write an empty path as a slash.
    private static func isAddress(_ bytes: Span<UInt8>, of redirect: RedirectURI) -> Bool {
        ASCII.equal(bytes, redirect.text)
            || (redirect.kind != .privateUse && redirect.path == "/" && !redirect.text.hasSuffix("/")
                && ASCII.equal(bytes, redirect.text + "/"))
    }
}
