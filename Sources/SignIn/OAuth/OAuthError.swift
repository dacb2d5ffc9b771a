public import LatchkeyHTTP
public import LatchkeyLog

/// Why a sign-in, a refresh or a revocation did not happen.
public struct OAuthError: RedactedError, Hashable {
    /// The problem. A `statusCode` is that of the server's response, which may be 200.
    public enum Code: Sendable, Hashable {
        /// The person gave up.
        case userCancelled
        /// The person, or the server for them, said no.
        case accessDenied
        /// The response's `state` is missing, not ours, or was used before.
        case stateMismatch
        /// The response or the metadata names another issuer than the expected one, or none where one is due.
        case issuerMismatch
        /// The authorization endpoint responded with an error; see `serverError`.
        case authorizationFailed
        /// The token endpoint refused the code or the request.
        case exchangeFailed(statusCode: Int)
        /// The refresh token is no longer valid. The user must sign in again.
        case sessionEnded
        /// The revocation endpoint refused.
        case revocationFailed(statusCode: Int)
        /// Nobody confirmed a sign-in on another device in time.
        case deviceCodeExpired
        /// The server refused another request than those above.
        case requestRefused(Request, statusCode: Int)
        /// The response can't be understood.
        case invalidResponse(Malformation)
        /// No complete response arrived.
        case networkError(TransportError)
        /// The server did not give its metadata.
        case discoveryFailed(statusCode: Int)
        /// The server's metadata can't be used.
        case invalidMetadata(MetadataProblem)
        /// The client's own configuration can't be used.
        case invalidConfiguration(ConfigurationProblem)
        /// The system returned no random bytes; the number is the errno.
        case noRandomOctets(number: Int32)
        /// libcrypto, which signs and verifies, can't be loaded.
        case noLibrary(LibraryFailure)
    }

    /// The request that the server refused.
    public enum Request: Sendable, Hashable, CaseIterable {
        /// An authorization request, pushed (RFC 9126 section 2).
        case pushedAuthorization
        /// Codes for another device (RFC 8628 section 3.1).
        case deviceAuthorization
        /// The registration of a client (RFC 7591 section 3).
        case registration
        /// The server's public keys (RFC 7517 section 5).
        case keySet
        /// Temporary credentials of AWS for a role.
        case roleCredentials
    }

    /// The problem with a response.
    public enum Malformation: Sendable, Hashable, CaseIterable {
        /// The response isn't a valid JSON object (RFC 8259).
        case notJSON
        /// The response exceeds its size limit.
        case tooLarge
        /// `access_token` is missing (RFC 6749 section 5.1).
        case missingAccessToken
        /// A token is empty, too long, or has other characters than RFC 6749 appendix A.12 names.
        case malformedToken
        /// `token_type` is neither `bearer` nor `dpop`.
        case unknownTokenType
        /// `openid` was requested, but the response lacks an ID token (OpenID Connect Core section 3.1.3.3).
        case missingIDToken
        /// The ID token is no JSON Web Token with the claims that it must have (RFC 7519).
        case malformedIDToken
        /// The ID token's `iss` is another server.
        case idTokenIssuer
        /// The ID token's `aud` or `azp` is another client.
        case idTokenAudience
        /// The ID token's `exp` has passed.
        case idTokenExpired
        /// The ID token's `nonce` isn't this sign-in's.
        case idTokenNonce
        /// The ID token's `sub` isn't the person's that the session is of.
        case idTokenSubject
        /// The query of the redirect address is malformed.
        case malformedQuery
        /// A parameter appears twice (RFC 6749 section 3.1).
        case duplicateParameter
        /// There is neither a `code` nor an `error`.
        case neitherCodeNorError
        /// The address is not this sign-in's redirect address.
        case notThisRedirect
        /// `scope` is not a list of scopes (RFC 6749 section 3.3).
        case malformedScope
        /// A token bound to a key was requested, but the response contains another kind (RFC 9449 section 5).
        case tokenNotBound
        /// A pushed request got no `request_uri` that can be used (RFC 9126 section 2.2).
        case pushedRequest
        /// The codes for another device are incomplete (RFC 8628 section 3.2).
        case deviceCodes
        /// The registration is incomplete, or requires what the client doesn't have (RFC 7591 section 3.2.1).
        case registration
        /// The public keys are malformed, or too many (RFC 7517).
        case keySet
        /// A role's temporary credentials are incomplete or malformed.
        case roleCredentials
        /// The ID token is signed with an algorithm that the server doesn't announce, or that isn't asymmetric
        /// (RFC 7518 section 3.1).
        case idTokenAlgorithm
        /// The ID token is not signed by one of the server's keys.
        case idTokenSignature
    }

    /// The problem with a server's metadata.
    public enum MetadataProblem: Sendable, Hashable, CaseIterable {
        /// A web page is at a well-known address, in place of metadata.
        case webPage
        /// There is none at the well-known addresses (RFC 8414 section 3, OpenID Connect Discovery section 4).
        case notFound
        /// The well-known address redirects, which is not followed.
        case redirected
        /// The metadata isn't a valid JSON object.
        case notJSON
        /// The metadata exceeds its size limit.
        case tooLarge
        /// The authorization or the token endpoint is missing.
        case missingEndpoint
        /// An endpoint is no URL.
        case malformedEndpoint
        /// An endpoint is neither HTTPS nor on a loopback address.
        case endpointNotConfidential
        /// `code_challenge_methods_supported` is there without `S256` (RFC 7636).
        case withoutS256
        /// `response_types_supported` is there without `code`.
        case withoutCodeFlow
        /// `dpop_signing_alg_values_supported` is there without `ES256` (RFC 9449 section 5.1).
        case withoutES256
        /// The server requires pushed authorization requests but lacks an endpoint for them (RFC 9126).
        case withoutPushedRequests
        /// The server lacks an endpoint for device codes (RFC 8628).
        case withoutDeviceGrant
        /// The server lacks an endpoint to register a client (RFC 7591).
        case withoutRegistration
        /// A client can prove itself neither by `client_secret_basic` nor by `client_secret_post`.
        case withoutClientAuthentication
        /// The authorization endpoint sets a parameter in its own query that belongs to the request.
        case reservedParameter
        /// A resource's metadata names another resource (RFC 9728 section 3.3).
        case otherResource
        /// A resource says that its metadata is at another origin, or names a server that can't be its own.
        case elsewhere
    }

    /// The problem with a client's configuration.
    public enum ConfigurationProblem: Sendable, Hashable, CaseIterable {
        /// The client id is empty, too long, or has forbidden characters (RFC 6749 appendix A.1).
        case clientID
        /// The client secret is empty, too long, or has forbidden characters (RFC 6749 appendix A.2).
        case clientSecret
        /// The client's key isn't a private key on P-256 (RFC 7518 section 6.2).
        case clientKey
        /// A scope is empty or has forbidden characters (RFC 6749 section 3.3).
        case scope
        /// The issuer is no HTTPS or loopback URL without query and fragment (RFC 8414 section 2).
        case issuer
        /// The resource is no HTTPS or loopback URL without query, fragment and user info (RFC 8707 section 2).
        case resource
        /// The file of an assertion isn't a file of at most 64 KiB with a token in it.
        case assertion
        /// The redirect address is not valid.
        case redirect
        /// The redirect address has a private-use scheme without a dot (RFC 8252 section 7.1).
        case redirectScheme
        /// The redirect address lacks a port.
        case redirectPort
        /// An extra parameter has a name that is the flow's own.
        case reservedParameter
        /// An extra parameter is empty, too long, or has forbidden characters.
        case parameter
        /// The request has more bytes than are sent.
        case requestTooLarge
        /// The response belongs to another server or client than the one that is to exchange it.
        case otherServer
        /// No key to sign with could be made or used.
        case signingKey
        /// The authorization URL that the caller made is not this sign-in's.
        case authorizationURL
    }

    /// The code that a program decides by; `isTransient` says whether trying again may help.
    public let code: Code
    /// The `error` the server gave, when it is a known one.
    public let serverError: ServerErrorCode?
    /// Of `.issuerMismatch` in metadata: what the server calls itself, if that is an issuer.
    package var foundIssuer: Issuer?

    /// For a step of the caller's own: `OAuthError(.sessionEnded)` from its refresh ends the session.
    public init(_ code: Code, serverError: ServerErrorCode? = nil) {
        self.code = code
        self.serverError = serverError
    }

    /// Whether the server's error leaves open what is wrong.
    package var saysNoMore: Bool {
        switch serverError {
        case nil, .invalidRequest, .other: true
        default: false
        }
    }

    /// Whether trying again later may help: nothing was refused.
    public var isTransient: Bool {
        if serverError == .temporarilyUnavailable || serverError == .serverError { return true }
        return switch code {
        case .networkError(let error):
            switch error.code {
            case .cannotResolveHost, .cannotConnect, .proxyRefused, .connectionLost, .timedOut, .other: true
            default: false
            }
        case .exchangeFailed(let status), .revocationFailed(let status), .discoveryFailed(let status),
            .requestRefused(_, let status):
            status >= 500 || status == 429 || status == 408
        default: false
        }
    }
}
