internal import LatchkeyCredentials
internal import LatchkeyJSON
package import LatchkeySecrets

extension Secret where Purpose == IDToken {
    /// The `sub`, unchecked; `nil` for a malformed token.
    package var subject: String? {
        guard let claims = try? IDTokenClaims(self) else { return nil }
        return claims.subject
    }
}

/// The claims of an ID token (OpenID Connect Core section 2).
///
/// This type checks issuer, audience, times and nonce; `SigningKeys` checks the signature.
struct IDTokenClaims: ~Copyable {
    private let payload: JSONDocument
    let subject: String
    /// The name of the account (section 5.1), which the server may say here or in the user information.
    let name: String?
    /// When the token ends, by the server's clock.
    let expiry: UnixTime

    /// How far the server's clock may be behind the one that is checked against, in seconds.
    static let toleratedSkew: Int64 = 300
    /// How far ahead it may be: our own clock may be a day off, where the server doesn't say what its is.
    static let toleratedFuture: Int64 = 2 * 86_400
    /// In seconds since 1970: what ends later never ends.
    private static let latestExpiry = 1e15

    init(_ token: borrowing Secret<IDToken>) throws(OAuthError) {
        let malformed = OAuthError(.invalidResponse(.malformedIDToken))
        let payload = try Self.part(token, 1)
        let header = try Self.part(token, 0)
        // An unsigned token is a forgery, because we never request one.
        guard let algorithm = header.member("alg"), let name = try? header.publicText(algorithm, limit: 32),
            !name.hasSameOctetsButForCase(as: "none"),
            let member = payload.member("sub"), let subject = try? payload.publicText(member, limit: 255),
            !subject.isEmpty
        else { throw malformed }
        self.subject = subject
        self.name = Self.name(in: payload)
        let expiry = payload.member("exp").flatMap { try? payload.double($0) } ?? 0
        self.expiry = UnixTime(seconds: Int64(min(max(expiry, 0), Self.latestExpiry)))
        self.payload = payload
    }

    private static func name(in payload: borrowing JSONDocument) -> String? {
        for member in [payload.member("preferred_username"), payload.member("email")].compactMap(\.self) {
            if let text = try? payload.publicText(member, limit: 1024), !text.isEmpty { return text }
        }
        return nil
    }

    /// Decodes the header (0) or the payload (1) of a compact JWS (RFC 7515 section 7.1).
    static func part(_ token: borrowing Secret<IDToken>, _ wanted: Int) throws(OAuthError) -> JSONDocument {
        // A part says ordinary things, such as the issuer: it is not what a log line is withheld for.
        let text = token.withExposedBytes { bytes -> Secret<MessageBody>? in
            var dots: [Int] = []
            for index in bytes.indices where bytes[index] == UInt8(ascii: ".") { dots.append(index) }
            guard dots.count == 2 else { return nil }
            let range = wanted == 0 ? 0..<dots[0] : dots[0] + 1..<dots[1]
            return Secret<MessageBody>(copying: bytes.extracting(range))
        }
        guard let text, let decoded = text.base64URLDecoded(),
            let document = try? JSONDocument(decoded), document.root.kind == .object
        else { throw OAuthError(.invalidResponse(.malformedIDToken)) }
        return document
    }

    // MARK: - Checks

    /// Section 3.1.3.7 items 2 to 5 and 9. Without a configured issuer there is nothing to compare `iss` with.
    borrowing func check(issuer: Issuer?, clientID: String, now: UnixTime) throws(OAuthError) {
        guard let member = payload.member("iss"), let text = try? payload.publicText(member, limit: 2048),
            issuer.map({ $0.text.hasSameOctets(as: text) }) ?? true
        else { throw OAuthError(.invalidResponse(.idTokenIssuer)) }
        guard isAddressed(to: clientID) else { throw OAuthError(.invalidResponse(.idTokenAudience)) }
        guard expiry > now.advanced(bySeconds: -Self.toleratedSkew) else {
            throw OAuthError(.invalidResponse(.idTokenExpired))
        }
        // Item 10 and RFC 7519 section 4.1.5: a token from the future may be one that was made in stock.
        let latest = Double(now.advanced(bySeconds: Self.toleratedFuture).seconds)
        for moment in [payload.member("iat"), payload.member("nbf")].compactMap(\.self) {
            guard let seconds = try? payload.double(moment), seconds < latest else {
                throw OAuthError(.invalidResponse(.idTokenExpired))
            }
        }
    }

    private borrowing func isAddressed(to clientID: String) -> Bool {
        guard let audience = payload.member("aud") else { return false }
        let audiences = audience.kind == .array ? payload.elements(of: audience) : [audience]
        var names: [String] = []
        for value in audiences {
            guard let name = try? payload.publicText(value, limit: 2048) else { return false }
            names.append(name)
        }
        guard names.contains(where: { $0.hasSameOctets(as: clientID) }) else { return false }
        guard let party = payload.member("azp") else { return names.count == 1 }
        return (try? payload.publicText(party, limit: 2048))?.hasSameOctets(as: clientID) ?? false
    }

    /// Compares in constant time.
    borrowing func check(nonce: borrowing Secret<OpenIDNonce>) throws(OAuthError) {
        guard let member = payload.member("nonce"), let theirs = try? payload.secret(member, as: OpenIDNonce.self),
            nonce.matches(theirs)
        else { throw OAuthError(.invalidResponse(.idTokenNonce)) }
    }
}
