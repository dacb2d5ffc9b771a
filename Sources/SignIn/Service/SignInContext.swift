public import LatchkeyCredentials
public import LatchkeyEnvironment
public import LatchkeyHTTP
public import LatchkeyLog
public import LatchkeyOAuth

/// The world as a sign-in sees it: network, randomness, clock, leases and log.
public struct SignInContext: Sendable {
    public var http: any HTTPTransport
    /// Where this user's processes agree on who refreshes a session.
    public var leases: LeaseDirectory
    public var random: RandomSource
    public var now: @Sendable () -> UnixTime
    public var log: RedactedLogger

    public init(
        http: any HTTPTransport, leases: LeaseDirectory, random: RandomSource = .system,
        now: @escaping @Sendable () -> UnixTime = UnixTime.now, log: RedactedLogger = .disabled
    ) {
        self.http = http
        self.leases = leases
        self.random = random
        self.now = now
        self.log = log
    }

    /// A program's own: libcurl with the environment's proxies, and the leases of this user's processes.
    public init(environment: ProgramEnvironment, log: RedactedLogger = .disabled) {
        let proxies = HTTPProxies(environment: environment.variables)
        self.init(
            http: CurlTransport(configuration: CurlTransport.Configuration(proxies: proxies)), leases: .standard,
            log: log)
    }
}
