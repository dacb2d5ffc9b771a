public import LatchkeyCredentials
public import LatchkeyHTTP
public import LatchkeyLog
package import LatchkeyOAuth
public import LatchkeyProcess
package import LatchkeySecrets

/// The world as a sign-in sees it: network, randomness, clock, leases and log.
public struct SignInContext: Sendable {
    package var http: any HTTPTransport
    /// Where this user's processes agree on who refreshes a session.
    package var leases: LeaseDirectory
    package var random: RandomSource
    package var now: @Sendable () -> UnixTime
    package var log: RedactedLogger
    /// How long to try to store tokens that the server has issued already.
    package var patience = Duration.seconds(30)
    /// Asks the person for the name of an account that the server doesn't name; `nil` means that the person didn't
    /// answer.
    package var askForName: (@Sendable () async -> String?)?

    package init(
        http: any HTTPTransport, leases: LeaseDirectory, random: RandomSource = .system,
        now: @escaping @Sendable () -> UnixTime = UnixTime.now, log: RedactedLogger = .disabled
    ) {
        self.http = http
        self.leases = leases
        self.random = random
        self.now = now
        self.log = log
    }

    /// A program's own, with the leases of this user's processes.
    ///
    /// - Parameters:
    ///   - environment: names the proxies of the default transport.
    ///   - http: the transport (default: libcurl with the environment's proxies).
    ///   - leases: the directory where processes that share a store agree on who refreshes. A store that several hosts
    ///     share, such as a vault in a database, uses its own leases instead.
    ///   - log: where lines go; nowhere unless told otherwise.
    public init(
        environment: ProgramEnvironment, http: (any HTTPTransport)? = nil, leases: LeaseDirectory = .standard,
        log: RedactedLogger = .disabled
    ) {
        self.init(http: http ?? CurlTransport(environment: environment), leases: leases, log: log)
    }
}

/// The steps of a sign-in that a caller does in place of the built-in ones. State, code verifier and the checks of the
/// response are not among them.
package struct SignInSteps: Sendable {
    /// Makes the address for the person. An address of another attempt is refused.
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
