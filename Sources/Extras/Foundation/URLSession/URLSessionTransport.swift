internal import Foundation
public import FoundationNetworking
public import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeySecrets

/// Sends requests with a URLSession of its own, for programs that need that transport; `CurlTransport` guards more.
///
/// - No redirects: one is a response like any other, so that neither token nor body goes anywhere else.
/// - No cookies, caches or kept credentials. Plain HTTP only to loopback addresses (`notConfidential` otherwise).
/// - Tokens and bodies are ordinary memory while Foundation has them, and are not overwritten.
/// - Cancelling the task and reaching the timeout end the wait at once.
/// - On Linux it trusts the system's certificate authorities alone, and takes proxies from the environment, for
///   loopback addresses too.
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
        guard limits.timeout > .zero else { throw TransportError(.timedOut, origin: origin) }
        let foundationRequest = try request.foundationRequest(timeout: limits.timeout)
        let task =
            if let source {
                session.uploadTask(with: foundationRequest, fromFile: source)
            } else {
                session.dataTask(with: foundationRequest)
            }
        let transfer = URLSessionTransfer(origin: origin, limits: limits, target: target)
        transfers.add(transfer, of: task)
        let alarm = Task {
            try await Task.sleep(for: limits.timeout)
            transfer.end(TransportError(.timedOut, origin: origin))
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.begin(continuation)
                task.resume()
            }
        } onCancel: {
            transfer.end(TransportError(.cancelled, origin: origin))
        }
        alarm.cancel()
        // Whatever ended it, Foundation has nothing more to do.
        task.cancel()
        transfers.remove(task)
        return try transfer.takeResponse()
    }
}

/// One transfer to or from a file, for whom a client is all that there is.
struct FileTransfer: HTTPTransport {
    let client: URLSessionTransport
    var source: URL?
    var target: DownloadedFile?

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        // What a response before this one left is not part of the file.
        guard target?.restart() ?? true else { throw TransportError(.other, origin: request.url.loggableOrigin) }
        return try await client.send(request, limits: limits, from: source, into: target)
    }
}
