public import Foundation
public import FoundationNetworking
public import LatchkeyHTTP
internal import LatchkeyLog

/// Sends requests with a URLSession of its own, for programs that need that transport; `CurlTransport` guards more.
///
/// - It doesn't follow redirects, so token and body go nowhere else.
/// - It doesn't have cookies, caches or stored credentials. Plain HTTP only works to loopback addresses (otherwise
///   `notConfidential`).
/// - Tokens and bodies are in ordinary memory while Foundation has them, and Foundation doesn't overwrite them.
/// - Cancelling the task and reaching the timeout end the wait at once.
/// - On Linux it only trusts the system's certificate authorities. It uses the environment's proxies, also for loopback
///   addresses.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let transfers = URLSessionTransfers()

    /// - Parameter configuration: of the session; what it says of cookies, caches and credentials is overruled.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit {
        session.invalidateAndCancel()
    }

    public func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        try await send(request, limits: limits, from: nil, into: nil)
    }

    /// - Parameters:
    ///   - source: a file to send as the body.
    ///   - target: takes the body of a 2xx response.
    func send(
        _ request: borrowing GuardedRequest, limits: TransferLimits, from source: URL?, into target: DownloadedFile?
    ) async throws(TransportError) -> GuardedResponse {
        let origin = request.url.loggableOrigin
        guard request.url.isConfidential else { throw TransportError(.notConfidential, origin: origin) }
        if Task.isCancelled { throw TransportError(.cancelled, origin: origin) }
        guard limits.boundedTimeout > .zero else { throw TransportError(.timedOut, origin: origin) }
        let foundationRequest = try request.foundationRequest(timeout: limits.boundedTimeout)
        let task =
            if let source {
                session.uploadTask(with: foundationRequest, fromFile: source)
            } else {
                session.dataTask(with: foundationRequest)
            }
        let transfer = URLSessionTransfer(origin: origin, limits: limits, target: target)
        transfers.add(transfer, of: task)
        let alarm = Task {
            try await Task.sleep(for: limits.boundedTimeout)
            transfer.ending.complete(TransportError(.timedOut, origin: origin))
        }
        let failure = await withTaskCancellationHandler {
            task.resume()
            return await transfer.ending.value()
        } onCancel: {
            transfer.ending.complete(TransportError(.cancelled, origin: origin))
        }
        alarm.cancel()
        // This stops Foundation's work, whatever the end was.
        task.cancel()
        transfers.remove(task)
        if let failure { throw failure }
        return try transfer.takeResponse()
    }
}

/// One transfer to or from a file.
struct FileTransfer: HTTPTransport {
    let client: URLSessionTransport
    var source: URL?
    var target: DownloadedFile?

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        // Removes the bytes of an earlier response.
        guard target?.restart() ?? true else { throw TransportError(.other, origin: request.url.loggableOrigin) }
        return try await client.send(request, limits: limits, from: source, into: target)
    }
}

/// Sends requests through a closure of your program, such as another URLSession or a test's stand-in.
///
/// The closure gets the request with the token. The closure must not follow redirects. A response that is too large is
/// refused after it has arrived.
public struct ClosureTransport: HTTPTransport {
    /// Sends a request of Foundation's and returns the whole response, or throws.
    public typealias Send = @Sendable (URLRequest) async throws -> (Data, URLResponse)

    private let closure: Send

    /// Calls `send` for each request.
    public init(_ send: @escaping Send) {
        closure = send
    }

    /// Throws a `TransportError` of the same kind as the closure's error, without its text.
    public func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        let origin = request.url.loggableOrigin
        guard request.url.isConfidential else { throw TransportError(.notConfidential, origin: origin) }
        guard limits.boundedTimeout > .zero else { throw TransportError(.timedOut, origin: origin) }
        let foundationRequest = try request.foundationRequest(timeout: limits.boundedTimeout)
        let received: (Data, URLResponse)
        do {
            try Task.checkCancellation()
            received = try await closure(foundationRequest)
        } catch {
            throw TransportError(error, origin: origin)
        }
        guard received.0.count <= max(limits.maximumBodyByteCount, 0) else {
            throw TransportError(.bodyTooLarge, origin: origin)
        }
        guard let response = GuardedResponse(received.1, body: Secret(copying: received.0.span)) else {
            throw TransportError(.malformedResponse, origin: origin)
        }
        return response
    }
}
