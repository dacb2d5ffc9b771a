internal import Foundation
internal import FoundationNetworking
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import Synchronization

/// The delegate of a session: passes what comes in to the transfer that it belongs to.
final class URLSessionTransfers: NSObject, URLSessionDataDelegate {
    private let running = Mutex<[Int: URLSessionTransfer]>([:])

    func add(_ transfer: URLSessionTransfer, of task: URLSessionTask) {
        running.withLock { $0[task.taskIdentifier] = transfer }
    }

    func remove(_ task: URLSessionTask) {
        running.withLock { $0[task.taskIdentifier] = nil }
    }

    private func transfer(of task: URLSessionTask) -> URLSessionTransfer? {
        running.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(transfer(of: dataTask)?.take(response) == true ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if transfer(of: dataTask)?.take(data) != true { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = transfer(of: task) else { return }
        transfer.end(error.map { TransportError($0, origin: transfer.origin) })
    }
}

/// One request on its way and the response as it comes in.
final class URLSessionTransfer: Sendable {
    private struct State: ~Copyable {
        var continuation: CheckedContinuation<Void, Never>?
        var isOver = false
        var status = 0
        var fields: [HeaderField] = []
        var body: SecretBuilder?
        var byteCount = 0
        var failure: TransportError?
    }

    let origin: LoggableText
    private let limits: TransferLimits
    private let target: DownloadedFile?
    private let state: Mutex<State>

    init(origin: LoggableText, limits: TransferLimits, target: DownloadedFile?) {
        self.origin = origin
        self.limits = limits
        self.target = target
        state = Mutex(State(body: SecretBuilder(limit: limits.maximumBodyByteCount)))
    }

    func begin(_ continuation: CheckedContinuation<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return state.isOver
        }
        if isOver { continuation.resume() }
    }

    /// Lets the caller go on; what comes in later is ignored.
    func end(_ failure: TransportError?) {
        let continuation = state.withLock { state in
            if state.isOver { return nil as CheckedContinuation<Void, Never>? }
            state.isOver = true
            state.failure = failure
            return state.continuation.take()
        }
        continuation?.resume()
    }

    /// Returns false when the response must not go on.
    func take(_ response: URLResponse) -> Bool {
        guard let response = response as? HTTPURLResponse, let fields = response.boundedFields else {
            end(TransportError(.malformedResponse, origin: origin))
            return false
        }
        let isAnnouncedTooLarge = response.expectedContentLength > Int64(limit(for: response.statusCode))
        guard !isAnnouncedTooLarge else {
            end(TransportError(.bodyTooLarge, origin: origin))
            return false
        }
        return state.withLock { state in
            (state.status, state.fields) = (response.statusCode, fields)
            return !state.isOver
        }
    }

    /// Returns false when nothing more is wanted.
    func take(_ data: Data) -> Bool {
        let failure: TransportError.Code? = state.withLock { state in
            guard !state.isOver else { return .cancelled }
            state.byteCount += data.count
            guard state.byteCount <= limit(for: state.status) else { return .bodyTooLarge }
            if let target, (200...299).contains(state.status) { return target.write(data) ? nil : .other }
            do throws(SecretBuilder.LimitExceeded) {
                try state.body?.append(data.span)
                return nil
            } catch {
                return .bodyTooLarge
            }
        }
        guard let failure else { return true }
        end(TransportError(failure, origin: origin))
        return false
    }

    /// The limit of a response. A file may be larger than a response in memory.
    private func limit(for status: Int) -> Int {
        if let target, (200...299).contains(status) { return target.maximumByteCount }
        return limits.maximumBodyByteCount
    }

    /// Returns the response, or throws why there is none. Once.
    func takeResponse() throws(TransportError) -> GuardedResponse {
        var body: SecretBuilder?
        let (status, fields, failure) = state.withLock { state in
            body = state.body.take()
            return (state.status, state.fields, state.failure)
        }
        if let failure { throw failure }
        guard let body = body.take(), status != 0 else { throw TransportError(.malformedResponse, origin: origin) }
        return GuardedResponse(status: status, fields: fields, body: body.finish(as: MessageBody.self))
    }
}
