package import LatchkeyLog

/// A known `error` value of an OAuth response. Any other text is `.other`: it is neither stored nor shown, because a
/// server, or an attacker who forged the response, could write anything there. `error_description` is never read.
public enum ServerErrorCode: String, Sendable, Hashable, CaseIterable {
    /// The request lacks a parameter, repeats one, or is malformed (RFC 6749 section 4.1.2.1, 5.2).
    case invalidRequest = "invalid_request"
    /// The client may not use this flow (RFC 6749 section 4.1.2.1, 5.2).
    case unauthorizedClient = "unauthorized_client"
    /// The person or the server said no (RFC 6749 section 4.1.2.1).
    case accessDenied = "access_denied"
    /// The server lacks the authorization code flow (RFC 6749 section 4.1.2.1).
    case unsupportedResponseType = "unsupported_response_type"
    /// A scope is unknown, malformed or too wide (RFC 6749 section 4.1.2.1, 5.2).
    case invalidScope = "invalid_scope"
    /// The server failed (RFC 6749 section 4.1.2.1).
    case serverError = "server_error"
    /// The server is overloaded or in maintenance (RFC 6749 section 4.1.2.1).
    case temporarilyUnavailable = "temporarily_unavailable"
    /// The client is unknown, or its proof is wrong (RFC 6749 section 5.2).
    case invalidClient = "invalid_client"
    /// The code or the refresh token is wrong, expired or revoked (RFC 6749 section 5.2).
    case invalidGrant = "invalid_grant"
    /// The server doesn't know the grant (RFC 6749 section 5.2).
    case unsupportedGrantType = "unsupported_grant_type"
    /// The server has to ask the user (OpenID Connect Core section 3.1.2.6).
    case interactionRequired = "interaction_required"
    /// The person has to sign in at the server (OpenID Connect Core section 3.1.2.6).
    case loginRequired = "login_required"
    /// The person has to choose an account (OpenID Connect Core section 3.1.2.6).
    case accountSelectionRequired = "account_selection_required"
    /// The person has to consent (OpenID Connect Core section 3.1.2.6).
    case consentRequired = "consent_required"
    /// The `request_uri` is wrong or expired (OpenID Connect Core section 3.1.2.6, RFC 9126).
    case invalidRequestURI = "invalid_request_uri"
    /// The request object is not valid (OpenID Connect Core section 3.1.2.6).
    case invalidRequestObject = "invalid_request_object"
    /// The access token is expired, revoked or malformed (RFC 6750 section 3.1).
    case invalidToken = "invalid_token"
    /// The access token needs another scope (RFC 6750 section 3.1).
    case insufficientScope = "insufficient_scope"
    /// The server can't revoke such a token (RFC 7009 section 2.2.1).
    case unsupportedTokenType = "unsupported_token_type"
    /// The person has not confirmed yet (RFC 8628 section 3.5).
    case authorizationPending = "authorization_pending"
    /// The device has to wait five seconds longer between its questions (RFC 8628 section 3.5).
    case slowDown = "slow_down"
    /// Nobody confirmed in time (RFC 8628 section 3.5).
    case expiredToken = "expired_token"
    /// The requested resource is unknown or not permitted (RFC 8707 section 2).
    case invalidTarget = "invalid_target"
    /// The DPoP proof is not valid (RFC 9449 section 5).
    case invalidDPoPProof = "invalid_dpop_proof"
    /// The DPoP proof needs the nonce that the response carries (RFC 9449 section 8).
    case useDPoPNonce = "use_dpop_nonce"
    // GitHub's own are sent with status 200.
    /// GitHub's: the code is wrong or expired.
    case badVerificationCode = "bad_verification_code"
    /// GitHub's: the client id or its secret is wrong.
    case incorrectClientCredentials = "incorrect_client_credentials"
    /// GitHub's: the device code is wrong.
    case incorrectDeviceCode = "incorrect_device_code"
    /// GitHub's: the redirect address isn't the one that is registered.
    case redirectURIMismatch = "redirect_uri_mismatch"
    /// GitHub's: the app has its device flow switched off.
    case deviceFlowDisabled = "device_flow_disabled"
    /// GitHub's: the refresh token is wrong or expired.
    case badRefreshToken = "bad_refresh_token"
    /// GitHub's: the person has to verify their address first.
    case unverifiedUserEmail = "unverified_user_email"
    /// GitHub's: the app is suspended.
    case applicationSuspended = "application_suspended"
    /// glewlwyd's: the code is wrong or expired.
    case invalidCode = "invalid_code"
    /// AWS's: the role doesn't trust the server, the client or the person.
    case roleAccessDenied = "AccessDenied"
    /// AWS's: the account doesn't know the server of the ID token, or the token isn't valid there.
    case invalidIdentityToken = "InvalidIdentityToken"
    /// AWS's: the ID token has expired.
    case expiredIdentityToken = "ExpiredTokenException"
    /// Any other text.
    case other = "other error"

    /// The code of a server's text.
    package init(text: String) {
        self = ServerErrorCode(rawValue: text) ?? .other
    }

    /// Safe: one of the words above.
    package var logMessage: LogMessage {
        "\(LoggableText(reviewed: "one of a fixed list of words", unredacted: rawValue))"
    }
}
