import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySecrets
import Synchronization

/// Servers, clients and responses that the tests share.
///
/// What they are made of stands in the tests' source: one that is malformed is a mistake there, and ends the run
/// (`try!`).
enum Sample {
    static let issuer = try! Issuer("https://id.example")

    /// - Parameter issuer: `nil` for a server configured without one, as GitHub is.
    static func server(
        issuer: Issuer? = Sample.issuer, announcesIssuer: Bool = false, commas: Bool = false,
        authorization: String = "https://id.example/authorize", device: String? = nil, pushing: String? = nil,
        registration: String? = nil
    ) -> AuthorizationServerMetadata {
        try! AuthorizationServerMetadata(
            issuer: issuer, authorizationEndpoint: HTTPURL(authorization),
            tokenEndpoint: HTTPURL("https://id.example/token"),
            revocationEndpoint: HTTPURL("https://id.example/revoke"), deviceAuthorizationEndpoint: device.map(url),
            pushedAuthorizationRequestEndpoint: pushing.map(url), registrationEndpoint: registration.map(url),
            announcesIssuerInResponses: announcesIssuer, separatesScopesByComma: commas)
    }

    static func url(_ text: String) -> HTTPURL { try! HTTPURL(text) }

    static func client(
        scopes: ScopeList = ["repo"], redirect: String = "http://127.0.0.1:4711/callback",
        extra: [AuthorizationParameter] = []
    ) -> ClientConfiguration {
        try! ClientConfiguration(
            clientID: "client one", redirect: RedirectURI(redirect, allowingAnyPrivateScheme: true), scopes: scopes,
            extraParameters: extra)
    }

    static func pending(
        server: AuthorizationServerMetadata = Sample.server(), client: ClientConfiguration = Sample.client()
    ) -> PendingAuthorization {
        try! AuthorizationRequest(server: server, client: client).begin(random: .system)
    }

    /// A code for an attempt, as its own server responds.
    static func callback(
        server: AuthorizationServerMetadata = Sample.server(), client: ClientConfiguration = Sample.client(),
        code: String = "c0de"
    ) throws(OAuthError) -> ValidatedCallback {
        let pending = pending(server: server, client: client)
        let state = try parameter("state", of: pending)
        return try pending.validate(response("code=\(code)&state=\(state)"))
    }

    static func response(_ query: String) throws(OAuthError) -> AuthorizationResponse {
        let bytes = Array(query.utf8)
        return try AuthorizationResponse(query: bytes.span)
    }

    static func parameter(_ name: String, of pending: borrowing PendingAuthorization) throws(OAuthError) -> String {
        let url = try pending.authorizationURL().reveal()
        return field(name, of: url[url.index(after: url.firstIndex(of: "?")!)...]) ?? ""
    }

    static let tokens = #"{"access_token":"at-1","token_type":"bearer","scope":"repo"}"#
}

/// Keeps what was poured into it where a test can look at it.
struct CollectingSink: SecretSink {
    static var reason: StaticString { "a test looks at what comes out" }

    var bytes: [UInt8] = []

    mutating func receive(_ span: Span<UInt8>) {
        for index in span.indices { bytes.append(span[index]) }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension Secret where Purpose: SecretPurpose {
    /// A secret of a test's own making.
    init(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(copying: bytes.span)
    }

    /// What is in it.
    borrowing func reveal() -> String {
        var sink = CollectingSink()
        pour(into: &sink)
        return sink.text
    }

    borrowing func revealBytes() -> [UInt8] {
        var sink = CollectingSink()
        pour(into: &sink)
        return sink.bytes
    }
}

extension AuthorizationURL {
    borrowing func reveal() -> String {
        var sink = CollectingSink()
        pour(into: &sink)
        return sink.text
    }
}

/// The decoded fields of a form or query, in order.
func formFields(_ text: some StringProtocol) -> [(name: String, value: String)] {
    func decode(_ part: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)!)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
    return text.split(separator: "&").map { field in
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : "")
    }
}

/// The value of the only field with this name, or `nil`.
func field(_ name: String, of text: some StringProtocol) -> String? {
    let values = formFields(text).filter { $0.name == name }.map(\.value)
    return values.count == 1 ? values[0] : nil
}

/// The error that `body` throws, or `nil`. (`#expect(throws:)` can't hold noncopyable results.)
func failure<Result: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> Result) -> Failure? {
    do throws(Failure) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// The error that `body` throws, or `nil`.
func failure<Result: ~Copyable>(
    _ body: () async throws(OAuthError) -> Result
) async -> OAuthError? {
    do throws(OAuthError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

/// The kernel's generator, but for one call that fails with error number 5.
final class RandomCalls: Sendable {
    private let left: Mutex<Int>

    /// - Parameter failing: which call fails, counted from 1.
    init(failing: Int) {
        left = Mutex(failing)
    }

    var source: RandomSource {
        RandomSource { [self] (span) throws(RandomSourceError) in
            let call = left.withLock { left in
                left -= 1
                return left
            }
            if call == 0 { throw RandomSourceError(number: 5) }
            for index in span.indices { span[index] = UInt8.random(in: 0...255) }
        }
    }
}
