package import LatchkeyCredentials
public import LatchkeyHTTP
public import LatchkeyLog
package import LatchkeyOAuth
public import LatchkeyProcess

/// The world as a sign-in sees it: network, randomness, clock, leases and log.
public struct SignInContext: Sendable {
    package var http: any HTTPTransport
    /// Where this user's processes agree on who refreshes a session.
    package var leases: LeaseDirectory
    package var random: RandomSource
    package var now: @Sendable () -> UnixTime
    package var log: RedactedLogger

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
    ///   - environment: names proxies, browsers and directories.
    ///   - http: libcurl with the environment's proxies unless told otherwise.
    ///   - log: where lines go; nowhere unless told otherwise.
    public init(
        environment: ProgramEnvironment, http: (any HTTPTransport)? = nil, log: RedactedLogger = .disabled
    ) {
        self.init(http: http ?? CurlTransport(environment: environment), leases: .standard, log: log)
    }
}
