package import LatchkeyOAuth
package import LatchkeySecrets

/// The steps of a sign-in that a caller does in place of the built-in ones. State, code verifier and the checks of the
/// response are not among them.
package struct SignInSteps: Sendable {
    /// Makes the address to send the person to. It is refused unless it is this attempt's.
    package typealias Address =
        @Sendable (borrowing PendingAuthorization) async throws(SignInError) -> Secret<AuthorizationAddress>
    /// Exchanges a response that was validated.
    package typealias Exchange =
        @Sendable (consuming ValidatedCallback, TokenEndpoint, borrowing ClientAuthentication) async throws(SignInError)
        -> TokenResponse
    /// Refreshes a session.
    package typealias Refresh =
        @Sendable (borrowing Secret<RefreshToken>, TokenEndpoint, borrowing ClientAuthentication)
        async throws(SignInError) -> TokenResponse

    package var address: Address?
    package var exchange: Exchange?
    package var refresh: Refresh?
    /// The client's secret, where it isn't in the store.
    package var clientSecret: GivenClientSecret?

    package init() {}
}

/// A client's secret that a program brings along, as one that is its own confidential client does.
package final class GivenClientSecret: Sendable {
    let secret: Secret<ClientSecret>

    package init(_ secret: consuming Secret<ClientSecret>) {
        self.secret = secret
    }
}
