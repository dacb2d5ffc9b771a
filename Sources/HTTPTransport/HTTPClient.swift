/// Sends HTTP requests. Redirects are answers like any other; cookies and caches don't exist.
public protocol HTTPClient: Sendable {
    /// Returns the answer whatever its status, or throws when there is none that is whole and within the limits.
    func send(_ request: consuming HTTPRequest, limits: HTTPLimits) async throws(HTTPError) -> HTTPResponse

    /// The same client, as far as it can tell addresses apart, for connections to these addresses alone; another is
    /// `addressRefused`. A client that can't tell is returned as it is.
    func reaching(_ reach: AddressReach) -> any HTTPClient
}

extension HTTPClient {
    public func reaching(_ reach: AddressReach) -> any HTTPClient { self }
}

extension HTTPClient {
    /// Sends with the standard limits: 1 MiB, 30 seconds.
    public func send(_ request: consuming HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await send(request, limits: HTTPLimits())
    }
}
