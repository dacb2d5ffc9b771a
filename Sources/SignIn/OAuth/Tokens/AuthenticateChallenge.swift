package import LatchkeyHTTP
package import LatchkeySecrets
internal import LatchkeySystem

/// One challenge of a `WWW-Authenticate` field (RFC 9110 section 11.6.1), with the parameters that a client acts on.
struct AuthenticateChallenge: Hashable {
    /// In lower case.
    let scheme: String
    let error: ServerErrorCode?
    /// The scopes that the resource wants (RFC 6750 section 3), if they can be scopes.
    let scopes: ScopeList?
    /// The address of the resource's metadata (RFC 9728 section 5.1), as the resource writes it.
    let resourceMetadata: String?

    var saysInsufficientScope: Bool { error == .insufficientScope }

    /// The limits for one response, in bytes and challenges.
    static let maximumByteCount = 8192
    static let maximumCount = 16

    /// All challenges of a response, in order. A field that is malformed gives those before its fault.
    static func all(of response: borrowing GuardedResponse) -> [AuthenticateChallenge] {
        var found: [AuthenticateChallenge] = []
        for field in response.fields where field.name.lowercased() == "www-authenticate" {
            found += parse(field.value)
        }
        return Array(found.prefix(maximumCount))
    }

    static func parse(_ text: String) -> [AuthenticateChallenge] {
        guard text.utf8.count <= maximumByteCount else { return [] }
        var reader = ChallengeReader(Array(text.utf8))
        return reader.challenges(limit: maximumCount)
    }
}

/// Reads challenges front to back. A comma parts both challenges and parameters; a token without `=` begins a
/// challenge.
private struct ChallengeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func challenges(limit: Int) -> [AuthenticateChallenge] {
        var found: [AuthenticateChallenge] = []
        skip(separators: true)
        while found.count < limit, let scheme = token()?.lowercased(), !at("=") {
            skip(separators: false)
            var values: [String: String] = [:]
            while let (name, value) = parameter() {
                if values[name] == nil { values[name] = value }
                skip(separators: true)
            }
            found.append(
                AuthenticateChallenge(
                    scheme: scheme, error: values["error"].map(ServerErrorCode.init(text:)),
                    scopes: values["scope"].flatMap { try? ScopeList(text: $0) },
                    resourceMetadata: values["resource_metadata"]))
            skip(separators: true)
        }
        return found
    }

    /// A name, an equals sign and a value; `nil`, and nothing read, when a new challenge begins or the text ends.
    private mutating func parameter() -> (name: String, value: String)? {
        let start = position
        guard let name = token()?.lowercased() else { return nil }
        skip(separators: false)
        guard at("=") else {
            if position < bytes.count, start + name.utf8.count == position, at(",") {
                // `Basic abc, …`: a token68 without an equals sign.
                return (name: "", value: "")
            }
            position = start
            return nil
        }
        position += 1
        while at("=") { position += 1 }
        skip(separators: false)
        if at("\"") { return quoted().map { (name, $0) } }
        return (name, word { $0 > 0x20 && $0 != UInt8(ascii: ",") } ?? "")
    }

    private mutating func quoted() -> String? {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard position < bytes.count else { return nil }
                text.append(bytes[position])
                position += 1
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func token() -> String? { word(Self.isTokenByte) }

    private mutating func word(_ isPart: (UInt8) -> Bool) -> String? {
        let start = position
        while position < bytes.count, isPart(bytes[position]) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || "!#$%&'*+-.^_`|~/".utf8.contains(byte)
    }

    private mutating func skip(separators: Bool) {
        while position < bytes.count,
            bytes[position] == 0x20 || bytes[position] == 0x09 || (separators && bytes[position] == UInt8(ascii: ","))
        { position += 1 }
    }

    private func at(_ character: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: character)
    }
}

/// The sink that writes a token or a client secret into an `Authorization` field (RFC 9110 section 11.6.2).
///
/// An access token can only get into a request through this type, and can't get into a URL.
package struct AuthorizationFieldSink: SecretSink, ~Copyable {
    package static var reason: StaticString { "a server takes tokens and client secrets in the Authorization field" }

    var output: SecretBuilder

    init(scheme: StaticString) {
        output = SecretBuilder(capacity: 496, limit: 128 << 10)
        if failure(SecretBuilder.LimitExceeded.self, of: try output.append(publicText: scheme.description + " ")) != nil
        {
            preconditionFailure("a scheme's name is short")
        }
    }

    /// Appends visible ASCII. Throws for an empty secret, a space, a control character or a byte outside ASCII: it
    /// could end the field and begin another (CWE-93).
    package mutating func receive(_ bytes: Span<UInt8>) throws(OAuthError) {
        guard ASCII.isVisible(bytes, limit: output.limit), bytes.index(of: 0x20) == nil else {
            throw OAuthError(.invalidResponse(.malformedToken))
        }
        try mapError(
            OAuthError.tooLarge,
            of: output.append(bytes))
    }

    consuming func finish() -> Secret<MessageBody> { output.finish(as: MessageBody.self) }
}

extension GuardedRequest {
    /// Puts an access token into the request: `Authorization: Bearer …` (RFC 6750 section 2.1).
    ///
    /// Throws `.invalidResponse(.malformedToken)` for a token with invalid characters for a field.
    package mutating func authorize(bearer token: borrowing Secret<AccessToken>) throws(OAuthError) {
        var sink = AuthorizationFieldSink(scheme: "Bearer")
        try token.pour(into: &sink)
        authorization = sink.finish()
    }

    /// Puts an access token that is bound to a key into the request: `Authorization: DPoP …` (RFC 9449 section 7.1).
    /// The proof comes from `ResourceClient`.
    package mutating func authorize(dpop token: borrowing Secret<AccessToken>) throws(OAuthError) {
        var sink = AuthorizationFieldSink(scheme: "DPoP")
        try token.pour(into: &sink)
        authorization = sink.finish()
    }

    /// Puts a client's credentials into the request: `Authorization: Basic …` (RFC 6749 section 2.3.1, RFC 7617).
    ///
    /// - Parameter formEncoded: as RFC 6749 says. Some servers take the two parts raw.
    package mutating func authorize(
        clientID: String, secret: borrowing Secret<ClientSecret>, formEncoded: Bool = true
    ) throws(OAuthError) {
        authorization = try BasicCredentials.field(clientID: clientID, secret: secret, formEncoded: formEncoded)
    }
}
