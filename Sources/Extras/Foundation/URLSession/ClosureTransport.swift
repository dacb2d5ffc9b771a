public import Foundation
public import FoundationNetworking
public import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeySecrets

/// Sends requests by a closure of the caller's own, such as another URLSession or a stand-in of a test.
///
/// The closure gets the request with the token in it. Whether redirects are followed, and with which fields, is its own
/// affair: it should not follow them. Responses that are too large are refused when they are there.
public struct ClosureTransport: HTTPTransport {
    /// Sends a request of Foundation's and returns the whole response, or throws.
    public typealias OAuthProvider = @Sendable (URLRequest) async throws -> (Data, URLResponse)

    private let provide: OAuthProvider

    /// Calls `provide` for each request.
    public init(_ provide: @escaping OAuthProvider) {
        self.provide = provide
    }

    /// What the closure throws becomes a `TransportError` of its kind, without its words.
    public func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        let origin = request.url.loggableOrigin
        guard request.url.isConfidential else { throw TransportError(.notConfidential, origin: origin) }
        let foundationRequest = try request.foundationRequest(timeout: limits.timeout)
        let received: (Data, URLResponse)
        do {
            try Task.checkCancellation()
            received = try await provide(foundationRequest)
        } catch {
            throw TransportError(error, origin: origin)
        }
        guard received.0.count <= limits.maximumBodyByteCount else {
            throw TransportError(.bodyTooLarge, origin: origin)
        }
        guard let response = GuardedResponse(received.1, body: Secret(copying: received.0.span)) else {
            throw TransportError(.malformedResponse, origin: origin)
        }
        return response
    }
}
