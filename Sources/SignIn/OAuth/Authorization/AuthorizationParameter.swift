internal import LatchkeySystem

/// One extra parameter of an authorization request. It is public, and it can't replace what keeps the flow safe.
public struct AuthorizationParameter: Sendable, Hashable {
    package let name: String
    package let value: String

    /// The names that only we set.
    static let reserved: Set<String> = [
        "client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "dpop_jkt",
        "nonce", "redirect_uri", "request", "request_uri", "response_mode", "response_type", "scope", "state",
    ]

    /// Throws `.invalidConfiguration(.reservedParameter)` for a name that is ours to set, `.parameter` for an empty
    /// name, control characters, or more than 2,048 bytes.
    public init(_ name: String, _ value: String) throws(OAuthError) {
        guard !Self.reserved.contains(name) else { throw OAuthError(.invalidConfiguration(.reservedParameter)) }
        guard (1...128).contains(name.utf8.count), value.utf8.count <= 2048,
            name.utf8.allSatisfy({ ASCII.isUnreserved($0) }),
            value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        else { throw OAuthError(.invalidConfiguration(.parameter)) }
        self.name = name
        self.value = value
    }
}
