internal import CLatchkeyMicroHTTPD
internal import LatchkeySecrets
internal import LatchkeySystem

/// One request on its way in and its response on its way out.
final class Exchange: @unchecked Sendable {
    // Sendable: the daemon's thread owns it until it suspends the connection, then the handler's task, then again the
    // thread once the connection is resumed; suspending and resuming go through the daemon's mutex.

    let connection: Connection
    private let path: String
    private var query: Secret<MessageBody>?
    private var header: RequestHeader?
    private var body: SecretBuilder?
    private var request: LoopbackRequest?
    private var response: LoopbackResponse?
    private var whenEnded: (@Sendable () -> Void)?
    /// Kept until the exchange has ended.
    private var message: OutgoingMessage?
    private(set) var stage = Stage.header
    private(set) var method: LoopbackMethod?

    enum Stage { case header, body, received, responded }

    /// - Parameter target: the request's target, verbatim from the first line.
    init(connection: Connection, target: Span<UInt8>) {
        self.connection = connection
        let mark = target.indices.first { target[$0] == UInt8(ascii: "?") } ?? target.count
        var bytes: [UInt8] = []
        for index in 0..<mark { bytes.append(target[index]) }
        path = String(decoding: bytes, as: UTF8.self)
        if mark < target.count { query = Secret(copying: target.extracting(mark + 1..<target.count)) }
    }

    /// Whether the target is a path. Only requests to proxies have other targets.
    var hasPath: Bool { path.hasPrefix("/") }

    func field(_ name: String) -> String? {
        header?.fields.first { $0.name.hasSameOctetsButForCase(as: name) }?.value
    }

    // MARK: - On the daemon's thread

    func begin(method: String, maximumBodyByteCount: Int) {
        self.method = LoopbackMethod(rawValue: method)
        header = connection.header()
        body = SecretBuilder(limit: maximumBodyByteCount)
        stage = .body
    }

    /// Returns false when the body is too large.
    func take(_ bytes: Span<UInt8>) -> Bool {
        return failure(SecretBuilder.LimitExceeded.self, of: try body?.append(bytes)) == nil
    }

    /// Puts the request together. Returns false when it is not complete.
    func finish(serverPort: UInt16) -> Bool {
        guard let method, let header, let peer = connection.peer(serverPort: serverPort), let body = body.take() else {
            return false
        }
        request = LoopbackRequest(
            method: method, path: path, query: query.take(), authorization: header.authorization.take(),
            body: body.finish(as: MessageBody.self), peer: peer, fields: header.fields)
        stage = .received
        return true
    }

    func takeResponse() -> LoopbackResponse? { response.take() }

    /// Hands a response to the library. `NO` closes the connection.
    func send(_ response: consuming LoopbackResponse) -> MHD_Result {
        whenEnded = response.whenEnded
        guard let message = OutgoingMessage(response) else { return .NO }
        self.message = message
        return connection.queue(message)
    }

    /// The library is done with it, and with a response that it was never handed.
    func ended() {
        whenEnded?()
        if let response = response.take() { response.whenEnded?() }
    }

    func suspend() { connection.suspend() }
    func resume() { connection.resume() }

    // MARK: - While the connection is suspended

    func takeRequest() -> LoopbackRequest? { request.take() }

    /// Takes the response. The daemon's thread reads it once the connection is resumed.
    func give(_ response: consuming LoopbackResponse) {
        self.response = consume response
        stage = .responded
    }
}
