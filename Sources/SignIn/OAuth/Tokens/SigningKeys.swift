internal import LatchkeyCrypto
internal import LatchkeyHTTP
internal import LatchkeyJSON
internal import LatchkeyLog
internal import Synchronization

/// Servers' public keys, kept while the process lives and requested anew when a token names one that isn't among them.
package final class SigningKeys: Sendable {
    private let sets = Mutex<[HTTPURL: [VerificationKey]]>([:])

    private static let maximumByteCount = 256 << 10
    /// Of one token without a key's name.
    private static let maximumTries = 8

    package init() {}

    /// Checks an ID token's signature (OpenID Connect Core section 3.1.3.7 items 6 to 8).
    ///
    /// Throws `.invalidResponse(.idTokenAlgorithm)` for an algorithm that isn't among `algorithms`, `.keySet` if the
    /// server shows no key of that algorithm with the token's key name, `.idTokenSignature` if none of those has signed
    /// the token; `.requestRefused(.keySet, …)`, `.networkError`, `.noLibrary`. Keys and addresses inside the token are
    /// ignored.
    func check(
        _ token: borrowing Secret<IDToken>, by algorithms: Set<SignatureAlgorithm>, keysAt url: HTTPURL,
        over http: any HTTPTransport, timeout: Duration = .seconds(30), log: RedactedLogger
    ) async throws(OAuthError) {
        let signature = try IDTokenSignature(token, by: algorithms)
        if let known = sets.withLock({ $0[url] }), try Self.isValid(token, signature, known) == true { return }
        // The server may have changed its keys.
        let fresh = try await fetch(url, http, timeout, log)
        sets.withLock { sets in
            if sets.count >= 16 { sets = [:] }
            sets[url] = fresh
        }
        guard let isValid = try Self.isValid(token, signature, fresh) else {
            throw OAuthError(.invalidResponse(.keySet))
        }
        guard isValid else { throw OAuthError(.invalidResponse(.idTokenSignature)) }
    }

    /// `nil` if none of the keys can have signed the token.
    private static func isValid(
        _ token: borrowing Secret<IDToken>, _ signature: IDTokenSignature, _ keys: [VerificationKey]
    ) throws(OAuthError) -> Bool? {
        let fitting = keys.filter { key in
            key.fits(signature.algorithm)
                && (signature.keyIdentifier.map { key.identifier?.hasSameOctets(as: $0) ?? false } ?? true)
        }
        guard !fitting.isEmpty else { return nil }
        return try mappingError({ OAuthError(.noLibrary($0)) }) { () throws(LibraryFailure) in
            try token.withExposedBytes { (bytes) throws(LibraryFailure) in
                let signed = bytes.extracting(0..<signature.signedByteCount)
                for key in fitting.prefix(maximumTries)
                where try key.key.accepts(signature.bytes, of: signed, by: signature.algorithm) {
                    return true
                }
                return false
            }
        }
    }

    private func fetch(
        _ url: HTTPURL, _ http: any HTTPTransport, _ timeout: Duration, _ log: RedactedLogger
    ) async throws(OAuthError) -> [VerificationKey] {
        let response = try await http.response(
            to: GuardedRequest(.get, url, fields: EndpointFields.json),
            limits: TransferLimits(maximumBodyByteCount: Self.maximumByteCount, timeout: timeout), log: log)
        guard response.isSuccess else {
            throw OAuthError(.requestRefused(.keySet, statusCode: response.status))
        }
        return try KeySet(parsing: response.body).keys
    }
}

/// The signature of an ID token, with the data from its header (RFC 7515).
struct IDTokenSignature {
    let algorithm: SignatureAlgorithm
    let keyIdentifier: String?
    let bytes: [UInt8]
    /// How much of the token is signed: header and payload.
    let signedByteCount: Int

    /// Throws `.invalidResponse(.idTokenAlgorithm)` for an algorithm that isn't among `algorithms`.
    init(_ token: borrowing Secret<IDToken>, by algorithms: Set<SignatureAlgorithm>) throws(OAuthError) {
        let header = try IDTokenClaims.part(token, 0)
        guard let member = header.member("alg"), let name = try? header.publicText(member, limit: 32),
            let algorithm = SignatureAlgorithm(rawValue: name), algorithms.contains(algorithm),
            header.member("crit") == nil
        else { throw OAuthError(.invalidResponse(.idTokenAlgorithm)) }
        self.algorithm = algorithm
        keyIdentifier = header.member("kid").flatMap { try? header.publicText($0, limit: 256) }
        guard header.member("kid") == nil || keyIdentifier != nil else {
            throw OAuthError(.invalidResponse(.idTokenSignature))
        }
        let (count, text) = token.withExposedBytes { bytes in
            var dot = bytes.count - 1
            while dot > 0, bytes[dot] != UInt8(ascii: ".") { dot -= 1 }
            var text = ""
            for index in min(dot + 1, bytes.count)..<bytes.count {
                text.unicodeScalars.append(Unicode.Scalar(bytes[index]))
            }
            return (dot, text)
        }
        guard let decoded = Base64URL.decode(text) else { throw OAuthError(.invalidResponse(.idTokenSignature)) }
        signedByteCount = count
        bytes = decoded
    }
}

extension TokenEndpoint {
    /// Checks the signature of the ID token in `tokens`, if there is one and the server has keys. Without keys the
    /// connection to the token endpoint replaces the check (OpenID Connect Core section 3.1.3.7 item 6).
    ///
    /// `exchange` and `poll` make this check themselves. `refresh` leaves the check to the caller, because the keys may
    /// have to be requested from the server. Throws `.invalidResponse(.idTokenSignature)` or `.idTokenAlgorithm` for a
    /// token that is not the server's; any other error says that the server's keys are unavailable.
    ///
    /// - Parameter timeout: how long the server may take to give its keys.
    package func checkSignature(
        of tokens: borrowing TokenResponse, timeout: Duration = .seconds(30)
    ) async throws(OAuthError) {
        guard let url = server.keySetEndpoint else { return }
        switch tokens.idToken {
        case .some(let token):
            try await signingKeys.check(
                token, by: server.idTokenAlgorithms, keysAt: url, over: endpoint.http, timeout: timeout,
                log: endpoint.log)
        case .none: break
        }
    }
}

/// A public key of a server's set (RFC 7517), of a kind that ID tokens are signed with here.
struct VerificationKey: Sendable, Hashable {
    let identifier: String?
    /// The one algorithm that the key is for, where the set says so (RFC 7517 section 4.4).
    let algorithm: SignatureAlgorithm?
    let key: PublicKey

    func fits(_ wanted: SignatureAlgorithm) -> Bool { key.fits(wanted) && (algorithm ?? wanted) == wanted }
}

/// A server's public keys (RFC 7517 section 5).
struct KeySet: Sendable {
    let keys: [VerificationKey]

    static let maximumKeyCount = 32
    static let limits = JSONLimits(byteCount: 256 << 10, depth: 6, valueCount: 4096, memberCount: 64)

    /// Reads a set. Keys that aren't for signatures by a `SignatureAlgorithm`, or are malformed, are left out; private
    /// and symmetric ones too. Throws `.invalidResponse(.keySet)` for anything but a set, and for one that is too
    /// large.
    init(parsing body: borrowing Secret<MessageBody>) throws(OAuthError) {
        guard let document = try? JSONDocument(body.duplicate(), limits: Self.limits),
            document.root.kind == .object, let member = document.member("keys"), member.kind == .array
        else { throw OAuthError(.invalidResponse(.keySet)) }
        let elements = document.elements(of: member)
        guard elements.count <= Self.maximumKeyCount else { throw OAuthError(.invalidResponse(.keySet)) }
        var keys: [VerificationKey] = []
        for element in elements {
            if let key = Self.key(element, in: document) { keys.append(key) }
        }
        self.keys = keys
    }

    /// As many bytes as the curve has. RFC 7518 section 6.2.1.2 wants them all; some servers (rhonabwy 1.1.11, and so
    /// glewlwyd) leave zeros at the start out, as one key of P-256 in 128 has in one of its two. No other point can be
    /// meant.
    private static func coordinate(_ bytes: [UInt8], _ curve: PublicKey.Curve) -> [UInt8]? {
        guard (1...curve.byteCount).contains(bytes.count) else { return nil }
        return [UInt8](repeating: 0, count: curve.byteCount - bytes.count) + bytes
    }

    private static func key(_ value: JSONValue, in document: borrowing JSONDocument) -> VerificationKey? {
        func text(_ name: StaticString, limit: Int) -> String? {
            document.member(name, of: value).flatMap { try? document.publicText($0, limit: limit) }
        }
        func bytes(_ name: StaticString, limit: Int) -> [UInt8]? { text(name, limit: limit).flatMap(Base64URL.decode) }
        // A member that is there must fit: `use` and `alg` say what a key is for (RFC 7517 sections 4.2 and 4.4).
        guard document.member("d", of: value) == nil, document.member("k", of: value) == nil,
            document.member("use", of: value).map({ document.isText($0, "sig") }) ?? true
        else { return nil }
        let key: PublicKey
        switch text("kty", limit: 16) {
        case "EC":
            guard let curve = text("crv", limit: 16).flatMap(PublicKey.Curve.init),
                let x = bytes("x", limit: 96).flatMap({ coordinate($0, curve) }),
                let y = bytes("y", limit: 96).flatMap({ coordinate($0, curve) })
            else { return nil }
            key = .ecdsa(curve, point: x + y)
        case "RSA":
            guard let modulus = bytes("n", limit: 2048), let exponent = bytes("e", limit: 16) else { return nil }
            key = .rsa(modulus: modulus, exponent: exponent)
        case "OKP":
            guard let curve = text("crv", limit: 16).flatMap(PublicKey.EdwardsCurve.init),
                let point = bytes("x", limit: 96)
            else { return nil }
            key = .edDSA(curve, point)
        default: return nil
        }
        var algorithm: SignatureAlgorithm?
        if let member = document.member("alg", of: value) {
            guard let known = (try? document.publicText(member, limit: 16)).flatMap(SignatureAlgorithm.init),
                key.fits(known)
            else { return nil }
            algorithm = known
        }
        return VerificationKey(identifier: text("kid", limit: 256), algorithm: algorithm, key: key)
    }
}
