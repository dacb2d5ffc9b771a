public import LatchkeyLog

/// A code verifier and its S256 challenge (RFC 7636). `plain` doesn't exist here.
///
/// The verifier is a secret, so the pair is noncopyable; the challenge may be seen by anyone.
public struct PKCEChallenge: ~Copyable, Sendable {
    /// 43 to 128 characters of `[A-Za-z0-9-._~]`.
    public let verifier: Secret<CodeVerifier>
    /// `base64url(SHA-256(verifier))`, 43 characters.
    public let challenge: String

    /// The only method: `S256`.
    public var method: String { "S256" }

    /// The random octets behind a generated verifier; their base64url text has 86 characters.
    package static let octetCount = 64

    /// Makes a fresh pair from 64 random octets.
    ///
    /// Throws ``PKCEError/failedToGenerateRandomOctets(number:)`` when the generator refuses.
    public static func generate() throws(PKCEError) -> PKCEChallenge { try generate(random: .system) }

    package static func generate(random: RandomSource) throws(PKCEError) -> PKCEChallenge {
        let octets: Secret<CodeVerifier> = try mapError(
            { (error: RandomSourceError) in PKCEError.failedToGenerateRandomOctets(number: error.number) },
            of: random.secret(byteCount: octetCount, for: CodeVerifier.self))
        return try PKCEChallenge(verifier: octets.base64URLEncoded())
    }

    /// Takes a verifier from outside. Throws ``PKCEError/invalidVerifier`` unless it has 43 to 128 characters of the
    /// alphabet (RFC 7636 section 4.1).
    public init(verifier: consuming Secret<CodeVerifier>) throws(PKCEError) {
        challenge = try verifier.withExposedBytes { (bytes) throws(PKCEError) in
            guard Self.isValidVerifier(bytes) else { throw PKCEError.invalidVerifier }
            return try Self.challenge(for: bytes)
        }
        self.verifier = verifier
    }

    /// Returns `base64url(SHA-256(ASCII(verifier)))` (RFC 7636 section 4.2).
    ///
    /// Throws ``PKCEError/failedToCreateChallengeForVerifier`` when a byte is not ASCII. Length and alphabet are not
    /// looked at here.
    package static func challenge(for verifier: Span<UInt8>) throws(PKCEError) -> String {
        for index in verifier.indices where verifier[index] >= 0x80 {
            throw PKCEError.failedToCreateChallengeForVerifier
        }
        let digest = SHA256.digest(verifier)
        return Base64URL.encode(digest.span)
    }

    /// Whether the bytes are 43 to 128 characters of `[A-Za-z0-9-._~]`.
    package static func isValidVerifier(_ bytes: Span<UInt8>) -> Bool {
        guard (43...128).contains(bytes.count) else { return false }
        // Every byte is checked, whatever the others are: the time only reveals the length.
        var valid = true
        for index in bytes.indices where !ASCII.isUnreserved(bytes[index]) { valid = false }
        return valid
    }
}

/// Why there is no PKCE challenge.
public enum PKCEError: RedactedError, Hashable {
    /// The generator failed; `number` is its errno.
    case failedToGenerateRandomOctets(number: Int32)
    /// The verifier holds a byte that is not ASCII.
    case failedToCreateChallengeForVerifier
    /// The verifier is too short, too long, or has a character outside the alphabet.
    case invalidVerifier

    public var explanation: Explanation {
        switch self {
        case .failedToGenerateRandomOctets(let number):
            .init(
                .internalError, "pkce.no-random-octets",
                "the system returned no random bytes: \(SystemErrorNumber(number))")
        case .failedToCreateChallengeForVerifier:
            .init(.badData, "pkce.verifier-not-ascii", "the code verifier is not ASCII")
        case .invalidVerifier:
            .init(
                .badData, "pkce.invalid-verifier",
                "the code verifier is not 43 to 128 letters, digits, hyphens, dots, underscores, tildes")
        }
    }
}

/// The source of random bytes: the kernel, or a test's replacement.
package struct RandomSource: Sendable {
    private let fill: @Sendable (inout MutableSpan<UInt8>) throws(RandomSourceError) -> Void

    /// - Parameter fill: overwrites the whole span, or throws with the platform's error number.
    package init(_ fill: @escaping @Sendable (inout MutableSpan<UInt8>) throws(RandomSourceError) -> Void) {
        self.fill = fill
    }

    /// The kernel's generator (getentropy(3)); its status is checked on each call.
    package static let system = RandomSource { (span) throws(RandomSourceError) in
        try mapError(
            { (error: SystemErrorNumber) in RandomSourceError(number: error.number) }, of: RandomOctets.fill(&span))
    }

    /// Returns `byteCount` fresh octets as a secret.
    package func secret<Purpose: SecretPurpose>(
        byteCount: Int, for purpose: Purpose.Type
    ) throws(RandomSourceError) -> Secret<Purpose> {
        try Secret<Purpose>(byteCount: byteCount) { (span) throws(RandomSourceError) in try fill(&span) }
    }
}
