public import LatchkeyProcess
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

/// Sends requests with libcurl, on one private thread that the first request starts and that ends with the client.
///
/// - HTTP/1.1; TLS 1.2 or later; plain HTTP only to loopback addresses (`notConfidential` otherwise).
/// - No redirects, cookies, netrc, caches, or content decoding: a response in an encoding is refused.
/// - The body of a response is gathered in guarded memory. libcurl and OpenSSL hold pieces of requests and responses,
///   in memory that isn't guarded, while they work. libcurl's is overwritten when it is freed, unless something else in
///   the process started libcurl before; OpenSSL's received records are once they are read. Header fields of responses
///   are ordinary text.
/// - A request other than GET and HEAD gets a connection of its own, so that libcurl never sends it twice.
/// - Cancelling the task and reaching the timeout end the transfer at once.
public final class CurlTransport: ReachLimitingTransport {
    package struct Configuration: Sendable {
        package var trust: CertificateTrust
        package var proxies: HTTPProxies
        /// The value of the `User-Agent` field.
        package var userAgent: String
        /// The addresses that the transport connects to. If a proxy is set, the proxy connects to every host but this
        /// machine; only `anywhere` allows exceptions.
        package var reach: AddressReach
        /// The time for each request, in place of the standard limit. A request that may change something at the server
        /// gets at least its own limit, because its response may hold the only valid token of a session.
        package var timeout: Duration?

        package init(
            trust: CertificateTrust = .system, proxies: HTTPProxies = .none, userAgent: String = "Latchkey",
            reach: AddressReach = .anywhere, timeout: Duration? = nil
        ) {
            self.trust = trust
            self.proxies = proxies
            self.userAgent = userAgent
            self.reach = reach
            self.timeout = timeout
        }

        /// A request's own limits with this time limit. A request whose own time limit is shorter than the standard has
        /// a reason for that, so this never extends that limit.
        package func limits(_ own: TransferLimits, for method: GuardedRequest.Method) -> TransferLimits {
            guard let timeout else { return own }
            var limits = own
            let isRead = method == .get || method == .head
            let isShort = own.timeout < TransferLimits().timeout
            if isRead {
                limits.timeout = isShort ? min(own.timeout, timeout) : timeout
            } else if !isShort {
                limits.timeout = max(own.timeout, timeout)
            }
            return limits
        }
    }

    /// The authorities whose certificates are trusted.
    public enum CertificateTrust: Sendable, Hashable {
        /// The system's file of certificate authorities, as libcurl was built to find it.
        case system
        /// The PEM certificates in this file, instead of the system's. A change to it is noticed within five minutes.
        case only(file: String)
    }

    private let configuration: Configuration
    private let engine = CurlEngine()
    /// The results of `reaching`, one for each reach.
    private let narrower = Mutex<[AddressReach: CurlTransport]>([:])

    package init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Connects to each host itself, whatever the environment names as a proxy.
    public convenience init(trust: CertificateTrust = .system) {
        self.init(configuration: Configuration(trust: trust))
    }

    /// Goes through the proxies that the environment names: `https_proxy`, `all_proxy`, `no_proxy` and their like.
    public convenience init(environment: ProgramEnvironment, trust: CertificateTrust = .system) {
        self.init(
            configuration: Configuration(trust: trust, proxies: HTTPProxies(environment: environment.variables)))
    }

    deinit {
        engine.stop()
    }

    package func reaching(_ reach: AddressReach) -> any HTTPTransport {
        if reach == configuration.reach { return self }
        return narrower.withLock { narrower in
            if let known = narrower[reach] { return known }
            var configuration = configuration
            configuration.reach = reach
            // Its own connections: one that was opened before was opened without this check.
            let client = CurlTransport(configuration: configuration)
            narrower[reach] = client
            return client
        }
    }

    public func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        try await run(transfer(of: request, limits))
    }

    private func transfer(
        of request: consuming GuardedRequest, _ limits: TransferLimits
    ) throws(TransportError) -> CurlTransfer {
        let origin = request.url.shownOrigin
        guard request.url.isConfidential else { throw TransportError(.notConfidential, origin: origin) }
        if Task.isCancelled { throw TransportError(.cancelled, origin: origin) }
        let limits = configuration.limits(limits, for: request.method)
        guard limits.timeout > .zero else { throw TransportError(.timedOut, origin: origin) }
        return try CurlTransfer(request, limits: limits, configuration: configuration, origin: origin)
    }

    private func run(_ transfer: CurlTransfer) async throws(TransportError) -> GuardedResponse {
        await withTaskCancellationHandler {
            await withCheckedContinuation { engine.start(transfer, continuation: $0) }
        } onCancel: {
            engine.cancel(transfer)
        }
        return try transfer.takeResponse()
    }
}

/// The environment's proxy for HTTPS, and the hosts without a proxy.
///
/// Loopback addresses never use a proxy. Only loopback addresses use plain HTTP, so `http_proxy` has no effect. A proxy's
/// address may contain a password, so it is a secret and never shown.
package struct HTTPProxies: Sendable {
    /// No proxy at all.
    package static let none = HTTPProxies(environment: [:])

    /// Such as `http://user:password@proxy.example:3128`. Ends in a zero byte, for C.
    let address: Box<Secret<Password>>?
    /// As libcurl reads it: names, addresses and networks with commas between them, or `*`.
    let exceptions: String

    /// Takes `https_proxy`, `all_proxy` and `no_proxy`, or the same in capitals, from an environment.
    package init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        address = value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY").map {
            Box(Secret(copying: (Array($0.utf8) + [0]).span))
        }
        exceptions = value("no_proxy", "NO_PROXY") ?? ""
    }

    /// The proxy to use for a URL, or `nil`.
    func address(for url: HTTPURL) -> Box<Secret<Password>>? { url.isLoopback ? nil : address }
}
