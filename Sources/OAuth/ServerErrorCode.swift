package import LatchkeyLog

/// An `error` value of an OAuth response that we know. Any other text is `.other`: it is neither kept nor shown,
/// because a server, or whoever forged the response, could write anything there. `error_description` is never read.
public enum ServerErrorCode: String, Sendable, Hashable, CaseIterable {
    // RFC 6749 sections 4.1.2.1 and 5.2.
    case invalidRequest = "invalid_request"
    case unauthorizedClient = "unauthorized_client"
    case accessDenied = "access_denied"
    case unsupportedResponseType = "unsupported_response_type"
    case invalidScope = "invalid_scope"
    case serverError = "server_error"
    case temporarilyUnavailable = "temporarily_unavailable"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unsupportedGrantType = "unsupported_grant_type"
    // OpenID Connect Core section 3.1.2.6.
    case interactionRequired = "interaction_required"
    case loginRequired = "login_required"
    case accountSelectionRequired = "account_selection_required"
    case consentRequired = "consent_required"
    case invalidRequestURI = "invalid_request_uri"
    case invalidRequestObject = "invalid_request_object"
    // RFC 6750, RFC 7009, RFC 8628, RFC 8707, RFC 9449.
    case invalidToken = "invalid_token"
    case insufficientScope = "insufficient_scope"
    case unsupportedTokenType = "unsupported_token_type"
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case expiredToken = "expired_token"
    case invalidTarget = "invalid_target"
    case invalidDPoPProof = "invalid_dpop_proof"
    case useDPoPNonce = "use_dpop_nonce"
    // GitHub's own, sent with status 200.
    case badVerificationCode = "bad_verification_code"
    case incorrectClientCredentials = "incorrect_client_credentials"
    case incorrectDeviceCode = "incorrect_device_code"
    case redirectURIMismatch = "redirect_uri_mismatch"
    case deviceFlowDisabled = "device_flow_disabled"
    case badRefreshToken = "bad_refresh_token"
    case unverifiedUserEmail = "unverified_user_email"
    case applicationSuspended = "application_suspended"
    // glewlwyd's own.
    case invalidCode = "invalid_code"
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
