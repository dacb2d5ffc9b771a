/// Sends HTTP requests. Redirects are answers like any other; cookies and caches don't exist.
public protocol HTTPTransport: Sendable {
    /// Returns the answer whatever its status, or throws when there is none that is whole and within the limits.
    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse

    /// The same client, as far as it can tell addresses apart, for connections to these addresses alone; another is
    /// `addressRefused`. A client that can't tell is returned as it is.
    func reaching(_ reach: AddressReach) -> any HTTPTransport
}

extension HTTPTransport {
    public func reaching(_ reach: AddressReach) -> any HTTPTransport { self }
}

extension HTTPTransport {
    /// Sends with the standard limits: 1 MiB, 30 seconds.
    public func send(_ request: consuming GuardedRequest) async throws(TransportError) -> GuardedResponse {
        try await send(request, limits: TransferLimits())
    }
}
