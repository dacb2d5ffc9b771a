package import LatchkeyHTTP
package import LatchkeyJSON
public import LatchkeyLog

extension OAuthError {
    public var explanation: Explanation {
        switch code {
        case .userCancelled: row(.refused, "oauth.user-cancelled", "the sign-in was cancelled")
        case .accessDenied:
            row(
                .refused, "oauth.access-denied", "access was denied",
                hint: "start the sign-in again, and consent on the server's page")
        case .stateMismatch:
            row(
                .protocolError, "oauth.state-mismatch",
                "the response does not belong to this sign-in: its state is missing or different",
                hint: "start the sign-in again, and answer only the browser page that it opens")
        case .issuerMismatch:
            row(
                .protocolError, "oauth.issuer-mismatch",
                foundIssuer.map { "the server's issuer is \"\($0)\", which differs from the one that was set" }
                    ?? "the response isn't from this sign-in's server: its issuer is missing or different",
                hint: foundIssuer.map { "if you trust that server, use the issuer \($0)" }
                    ?? "set the issuer exactly as the server writes it, with or without a final slash")
        case .authorizationFailed:
            row(
                .protocolError, "oauth.authorization-failed", "the server did not authorize the sign-in",
                hint: refusalHint)
        case .exchangeFailed(let status):
            row(
                kind(ofStatus: status), "oauth.exchange-failed",
                "the server refused the token request (status \(status))", hint: refusalHint)
        case .sessionEnded:
            row(
                .refused, "oauth.session-ended", "the server no longer accepts this session",
                hint: "\(Recovery.signIn)")
        case .revocationFailed(let status):
            row(
                kind(ofStatus: status), "oauth.revocation-failed",
                "the server did not revoke the token (status \(status))", hint: refusalHint)
        case .deviceCodeExpired:
            row(
                .tryAgain, "oauth.device-code-expired", "the sign-in was not confirmed in time",
                hint: "start the sign-in again, and enter the new code")
        case .requestRefused(let request, let status):
            row(
                kind(ofStatus: status), "oauth.request-refused",
                "the server refused \(request.logMessage) (status \(status))", hint: refusalHint)
        case .invalidResponse(let malformation):
            row(
                .protocolError, "oauth.invalid-response",
                "the server's response can't be used: \(malformation.logMessage)",
                hint: malformation.hint)
        case .networkError(let error): error.explanation
        case .discoveryFailed(let status):
            row(
                kind(ofStatus: status), "oauth.discovery-failed",
                "the server did not return its metadata (status \(status))",
                hint: refusalHint ?? OAuthError.MetadataProblem.notFound.hint)
        case .invalidMetadata(let problem):
            row(
                .protocolError, "oauth.invalid-metadata", "the server's metadata can't be used: \(problem.logMessage)",
                hint: problem.hint)
        case .invalidConfiguration(let problem):
            row(.configuration, "oauth.invalid-configuration", problem.logMessage, hint: problem.hint)
        case .noLibrary(let failure): failure.explanation
        case .noRandomOctets(let number):
            row(
                .internalError, "oauth.no-random-octets",
                "the system returned no random bytes: \(SystemErrorNumber(number))")
        }
    }

    /// A row of the table, with the server's own code where it gave one.
    private func row(
        _ kind: Explanation.Kind, _ code: StaticString, _ cause: LogMessage, hint: LogMessage? = nil
    ) -> Explanation {
        .init(kind, code, serverError.map { "\(cause) (\($0.logMessage))" } ?? cause, hint: hint)
    }

    private func kind(ofStatus status: Int) -> Explanation.Kind {
        switch status {
        case 300...399: .protocolError
        case 503: .tryAgain
        case 500...: .unavailable
        default: isTransient ? .tryAgain : .refused
        }
    }

    fileprivate static let retryHint: LogMessage = "try again; if it fails again, the server's operator has to fix it"
    fileprivate static let unboundHint: LogMessage =
        "\(Recovery.dropDPoP), if tokens that work without the key are good enough"

    private var refusalHint: LogMessage? {
        switch code {
        case .exchangeFailed(300...399), .revocationFailed(300...399), .requestRefused(_, 300...399):
            return
                "the server redirects, and Latchkey doesn't follow that redirect; the server's operator has to fix it"
        default: break
        }
        if isTransient { return "try again later" }
        return switch serverError {
        case .invalidClient, .incorrectClientCredentials, .unauthorizedClient:
            "check the client id and the client secret"
        case .redirectURIMismatch: "register the redirect URI at the server exactly as Latchkey uses it"
        case .invalidScope: "check the scopes"
        case .deviceFlowDisabled: "switch on the device flow in the client's settings at the server"
        case .roleAccessDenied: "check that the role's trust policy names this server, this client ID and this person"
        case .invalidIdentityToken:
            "add the server to the AWS account as an OpenID Connect provider, with the client ID as an audience"
        case .expiredIdentityToken, .loginRequired, .interactionRequired, .consentRequired, .accountSelectionRequired:
            "sign in again"
        // Once more with what the server required was not enough.
        case .useDPoPNonce, .invalidDPoPProof: Self.retryHint
        // Some servers respond to an invalid token without an error code.
        case .none where code == .exchangeFailed(statusCode: 400): "sign in again"
        case .invalidGrant, .badVerificationCode, .invalidCode: "sign in again"
        default: if case .exchangeFailed = code { Self.retryHint } else { nil }
        }
    }
}

extension OAuthError.Request {
    // Safe: words of ours.
    package var logMessage: LogMessage {
        switch self {
        case .pushedAuthorization: "the authorization request"
        case .deviceAuthorization: "a code for another device"
        case .registration: "to register the client"
        case .keySet: "its public keys"
        case .roleCredentials: "the role's credentials"
        }
    }
}

extension OAuthError.Malformation {
    fileprivate var hint: LogMessage {
        switch self {
        case .tokenNotBound: OAuthError.unboundHint
        case .missingIDToken: "sign in without the scope openid, or switch on OpenID Connect for the client"
        default: OAuthError.retryHint
        }
    }

    // Safe: words of ours.
    package var logMessage: LogMessage {
        switch self {
        case .notJSON: "it is not valid JSON"
        case .tooLarge: "it is too large"
        case .missingAccessToken: "the access token is missing"
        case .malformedToken: "a token is empty, too long or has forbidden characters"
        case .unknownTokenType: "the token is of an unknown type"
        case .missingIDToken: "there is no ID token"
        case .malformedIDToken: "the ID token is malformed"
        case .idTokenIssuer: "the ID token is from another issuer"
        case .idTokenAudience: "the ID token is for another client"
        case .idTokenExpired: "the ID token has expired, or is from the future"
        case .idTokenNonce: "the ID token is for another sign-in"
        case .idTokenSubject: "the ID token is for another person"
        case .malformedQuery: "the query is malformed"
        case .duplicateParameter: "a parameter appears twice"
        case .neitherCodeNorError: "it contains neither a code nor an error"
        case .notThisRedirect: "it is not the redirect address of this sign-in"
        case .malformedScope: "the granted scopes are malformed"
        case .pushedRequest: "the server returned no usable reference for the pushed request"
        case .deviceCodes: "the codes for another device are incomplete"
        case .registration: "the registration is incomplete, or requires a method that Latchkey lacks"
        case .keySet: "the public keys are malformed, too many, or not the ID token's"
        case .roleCredentials: "the role's credentials are incomplete or malformed"
        case .idTokenAlgorithm:
            "the ID token is not signed with an algorithm that the server announces and Latchkey supports"
        case .idTokenSignature: "the ID token is not signed by one of the server's keys"
        case .tokenNotBound: "the token is not bound to the key of this sign-in, which was requested"
        }
    }
}

extension OAuthError.MetadataProblem {
    fileprivate var hint: LogMessage {
        switch self {
        case .webPage, .notFound, .redirected: "check the issuer: the server's documentation names it"
        case .withoutDeviceGrant: "\(Recovery.browserOrPaste)"
        case .withoutRegistration: "\(Recovery.registerClient)"
        case .withoutS256: "the server must offer PKCE with S256"
        case .withoutES256: OAuthError.unboundHint
        case .otherResource: "check the resource's address: its documentation names it, with or without a final slash"
        case .elsewhere: "if you trust the server, set its issuer yourself"
        default: "the server's operator has to fix it"
        }
    }

    // Safe: words of ours.
    package var logMessage: LogMessage {
        switch self {
        case .webPage: "the server returned a web page (HTML), not JSON"
        case .notFound: "the server has none at the well-known addresses"
        case .redirected: "its address redirects, and Latchkey doesn't follow that redirect"
        case .notJSON: "it is not a valid JSON object"
        case .tooLarge: "it is too large"
        case .missingEndpoint: "an endpoint is missing"
        case .malformedEndpoint: "an endpoint isn't a valid URL"
        case .endpointNotConfidential: "an endpoint is neither HTTPS nor a loopback address"
        case .withoutS256: "PKCE with S256 is not among its methods"
        case .withoutCodeFlow: "the authorization code flow is not among its response types"
        case .withoutPushedRequests: "the server requires pushed authorization requests but lacks an endpoint for them"
        case .withoutDeviceGrant: "the server lacks an endpoint for device codes"
        case .withoutRegistration: "the server lacks an endpoint to register clients"
        case .withoutClientAuthentication: "the server accepts no client secrets"
        case .withoutES256: "ES256 is not among its algorithms for DPoP proofs"
        case .reservedParameter: "the authorization endpoint sets a parameter that only Latchkey may set"
        case .otherResource: "it is for another resource"
        case .elsewhere: "the resource points to another host's metadata, or to a server without HTTPS"
        }
    }
}

extension OAuthError.ConfigurationProblem {
    fileprivate var hint: LogMessage? {
        switch self {
        case .issuer: "use the https:// address that the server calls its issuer"
        case .resource: "use an address such as https://api.example.org/mcp"
        case .clientSecret: "pass the client secret alone, on one line"
        case .clientKey: "make a key with `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`"
        case .assertion: "check the path, and that this user may read the file"
        case .redirect: "use an address such as http://127.0.0.1/callback or com.example.app:/callback"
        case .redirectScheme:
            "use a scheme such as com.example.app, or \(Recovery.allowScheme)"
        case .reservedParameter: "use the option or the property for it, such as the scopes or the resource"
        case .parameter: "write NAME=VALUE, such as login_hint=ada@example.org"
        default: nil
        }
    }

    // Safe: words of ours.
    package var logMessage: LogMessage {
        switch self {
        case .clientID: "the client id is empty, too long or has forbidden characters"
        case .clientSecret: "the client secret is empty, too long or has forbidden characters"
        case .clientKey: "the client key isn't a private key on the curve P-256, in PEM or as a JWK"
        case .scope: "a scope is empty or has forbidden characters"
        case .issuer: "the issuer isn't an HTTPS or loopback URL without query and fragment"
        case .resource: "the resource isn't an HTTPS or loopback URL without query, fragment and user name"
        case .assertion: "the file of the assertion is missing, or isn't a file of at most 64 KiB with a token in it"
        case .redirect: "the redirect address is not valid"
        case .redirectScheme: "the redirect address has a scheme that is not a reverse domain name"
        case .redirectPort: "the redirect URI lacks a port"
        case .reservedParameter: "an extra parameter has a name that only Latchkey may set"
        case .parameter: "an extra parameter is empty, too long or has forbidden characters"
        case .requestTooLarge: "the request is too large"
        case .signingKey: "can't create or use a signing key"
        case .authorizationURL:
            "the authorization URL isn't from this sign-in: it must lead to the server's own page and contain this state and challenge once"
        case .otherServer: "the response belongs to another server or client than the one that exchanges it"
        }
    }
}

/// Conversions of another module's errors to ours, for `mapError`.
extension OAuthError {
    package static func network(_ error: TransportError) -> OAuthError {
        OAuthError(.networkError(error))
    }

    static func random(_ error: RandomSourceError) -> OAuthError {
        OAuthError(.noRandomOctets(number: error.number))
    }

    /// A request is larger than its limit.
    package static func tooLarge(_: SecretBuilder.LimitExceeded) -> OAuthError {
        OAuthError(.invalidConfiguration(.requestTooLarge))
    }

    package static func unwritable(_: JSONError) -> OAuthError {
        OAuthError(.invalidConfiguration(.requestTooLarge))
    }
}
