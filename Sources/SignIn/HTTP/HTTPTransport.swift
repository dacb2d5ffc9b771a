/// Sends HTTP requests. Redirects are responses like any other; cookies and caches don't exist.
///
/// Only ``CurlTransport`` can refuse private addresses. If you use your own transport, even one that wraps
/// ``CurlTransport``, a hostile server's metadata can make the client connect to this machine or its network.
public protocol HTTPTransport: Sendable {
    /// Returns the response whatever its status, or throws when there is none that is whole and within the limits:
    /// `timedOut` and `cancelled` at once, `bodyTooLarge` for more bytes than `limits` permits.
    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
}

/// A transport that tells addresses apart.
package protocol ReachLimitingTransport: HTTPTransport {
    /// The same transport for connections to these addresses alone; another is `addressRefused`.
    func reaching(_ reach: AddressReach) -> any HTTPTransport
}

extension HTTPTransport {
    /// The same transport for connections to these addresses alone; one that can't tell them apart is returned as it
    /// is.
    package func reaching(_ reach: AddressReach) -> any HTTPTransport {
        (self as? any ReachLimitingTransport)?.reaching(reach) ?? self
    }
}

extension HTTPTransport {
    /// Sends with the standard limits: 1 MiB, 30 seconds.
    ///
    /// Throws as `send(_:limits:)`.
    public func send(_ request: consuming GuardedRequest) async throws(TransportError) -> GuardedResponse {
        try await send(request, limits: TransferLimits())
    }
}
