public import Secrets

/// Sends HTTP requests. Redirects are answers like any other; cookies and caches don't exist.
public protocol HTTPClient: Sendable {
    /// Returns the answer whatever its status, or throws when there is none that is whole and within the limits.
    func send(_ request: consuming HTTPRequest, limits: HTTPLimits) async throws(HTTPError) -> HTTPResponse

    /// Sends a request with the proof of a key that `makeProof` returns, in place of its own.
    ///
    /// It is called at most once, on the calling task, and must not wait for anything: the client may connect meanwhile.
    /// When it returns `nil`, nothing is sent, and `cancelled` is thrown.
    func send(
        _ request: consuming HTTPRequest, limits: HTTPLimits, makingProof makeProof: () -> Secret<MessageBody>?
    ) async throws(HTTPError) -> HTTPResponse

    /// The same client, as far as it can tell addresses apart, for connections to these addresses alone; another is
    /// `addressRefused`. A client that can't tell is returned as it is.
    func reaching(_ reach: AddressReach) -> any HTTPClient
}

extension HTTPClient {
    public func reaching(_ reach: AddressReach) -> any HTTPClient { self }

    /// Makes the proof first, and then sends the request.
    public func send(
        _ request: consuming HTTPRequest, limits: HTTPLimits, makingProof makeProof: () -> Secret<MessageBody>?
    ) async throws(HTTPError) -> HTTPResponse {
        request.proof = makeProof()
        if request.proof == nil { throw HTTPError(.cancelled, origin: request.url.shownOrigin) }
        return try await send(request, limits: limits)
    }
}

extension HTTPClient {
    /// Sends with the standard limits: 1 MiB, 30 seconds.
    public func send(_ request: consuming HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await send(request, limits: HTTPLimits())
    }
}
