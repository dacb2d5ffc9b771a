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
        transfer.ending.complete(error.map { TransportError($0, origin: transfer.origin) })
    }
}

/// One request on its way and the response as it comes in.
final class URLSessionTransfer: Sendable {
    private struct State: ~Copyable {
        var status = 0
        var fields: [HeaderField] = []
        var body: SecretBuilder?
        var byteCount = 0
    }

    let origin: LoggableText
    /// The end, with its error if the response isn't usable. Anything that arrives later is ignored.
    let ending = Pending<TransportError?>()
    private let limits: TransferLimits
    private let target: DownloadedFile?
    private let state: Mutex<State>

    init(origin: LoggableText, limits: TransferLimits, target: DownloadedFile?) {
        self.origin = origin
        self.limits = limits
        self.target = target
        state = Mutex(State(body: SecretBuilder(limit: limits.maximumBodyByteCount)))
    }

    /// Returns false when the response must not go on.
    func take(_ response: URLResponse) -> Bool {
        guard let response = response as? HTTPURLResponse, let fields = response.boundedFields else {
            ending.complete(TransportError(.malformedResponse, origin: origin))
            return false
        }
        let isAnnouncedTooLarge = response.expectedContentLength > Int64(limit(for: response.statusCode))
        guard !isAnnouncedTooLarge else {
            ending.complete(TransportError(.bodyTooLarge, origin: origin))
            return false
        }
        return state.withLock { state in
            (state.status, state.fields) = (response.statusCode, fields)
            return ending.present == nil
        }
    }

    /// Returns false when nothing more is wanted.
    func take(_ data: Data) -> Bool {
        let failure: TransportError.Code? = state.withLock { state in
            guard ending.present == nil else { return .cancelled }
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
        ending.complete(TransportError(failure, origin: origin))
        return false
    }

    /// The limit of a response. A file may be larger than a response in memory.
    private func limit(for status: Int) -> Int {
        if let target, (200...299).contains(status) { return target.maximumByteCount }
        return limits.maximumBodyByteCount
    }

    /// Returns the response after an end without an error. Once.
    func takeResponse() throws(TransportError) -> GuardedResponse {
        var body: SecretBuilder?
        let (status, fields) = state.withLock { state in
            body = state.body.take()
            return (state.status, state.fields)
        }
        guard let body = body.take(), status != 0 else { throw TransportError(.malformedResponse, origin: origin) }
        return GuardedResponse(status: status, fields: fields, body: body.finish(as: MessageBody.self))
    }
}
