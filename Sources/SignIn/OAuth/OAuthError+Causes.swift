package import LatchkeyJSON
package import LatchkeyHTTP
package import LatchkeySecrets

/// What another module's errors are as ours, for `mapError`.
extension OAuthError {
    package static func network(_ error: TransportError) -> OAuthError {
        OAuthError(.networkError(error))
    }

    static func random(_ error: RandomSourceError) -> OAuthError {
        OAuthError(.noRandomOctets(number: error.number))
    }

    /// What is put together for a request went past its limit.
    package static func tooLarge(_: SecretBuilder.LimitExceeded) -> OAuthError {
        OAuthError(.invalidConfiguration(.requestTooLarge))
    }

    package static func unwritable(_: JSONError) -> OAuthError {
        OAuthError(.invalidConfiguration(.requestTooLarge))
    }
}
