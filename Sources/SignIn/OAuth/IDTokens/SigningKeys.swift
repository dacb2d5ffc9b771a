internal import LatchkeyCrypto
internal import LatchkeyHTTP
internal import LatchkeyJSON
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem
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
    /// Throws `.invalidResponse(.idTokenAlgorithm)` for an algorithm that isn't among `algorithms`, `.idTokenSignature`
    /// unless one of the server's keys of that algorithm, and with the token's key name, has signed the token;
    /// `.requestRefused(.keySet, …)`, `.networkError`, `.noLibrary`. Keys and addresses inside the token are ignored.
    func check(
        _ token: borrowing Secret<IDToken>, by algorithms: Set<SignatureAlgorithm>, keysAt url: HTTPURL,
        over http: any HTTPTransport, timeout: Duration = .seconds(30), log: RedactedLogger
    ) async throws(OAuthError) {
        let signature = try IDTokenSignature(token, by: algorithms)
        if let known = sets.withLock({ $0[url] }), try Self.isValid(token, signature, known) { return }
        // The server may have changed its keys.
        let fresh = try await fetch(url, http, timeout, log)
        sets.withLock { sets in
            if sets.count >= 16 { sets = [:] }
            sets[url] = fresh
        }
        guard try Self.isValid(token, signature, fresh) else { throw OAuthError(.invalidResponse(.idTokenSignature)) }
    }

    private static func isValid(
        _ token: borrowing Secret<IDToken>, _ signature: IDTokenSignature, _ keys: [VerificationKey]
    ) throws(OAuthError) -> Bool {
        let fitting = keys.filter { key in
            key.fits(signature.algorithm)
                && (signature.keyIdentifier.map { key.identifier?.hasSameOctets(as: $0) ?? false } ?? true)
        }
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

/// The signature of an ID token, and what its header says about it (RFC 7515).
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
    /// Checks the signature of tokens' ID token, where there is one and the server has keys. Without keys the
    /// connection to the token endpoint stands for it (OpenID Connect Core section 3.1.3.7 item 6).
    ///
    /// `exchange` and `poll` do it themselves; `refresh` leaves it to the caller, because the server may have to be
    /// asked for its keys. Throws `.invalidResponse(.idTokenSignature)` or `.idTokenAlgorithm` for a token that is not
    /// the server's; any other error says that its keys could not be had.
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
