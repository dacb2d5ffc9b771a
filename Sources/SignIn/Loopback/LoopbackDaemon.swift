internal import CLatchkeyMicroHTTPD
internal import Glibc
internal import LatchkeySecrets
internal import Synchronization

/// The data that the library's callbacks share: the handler, the limits, and the exchanges that wait for a response.
final class LoopbackDaemon: Sendable {
    let configuration: LoopbackServer.Configuration
    let handler: LoopbackServer.Handler
    let port: UInt16
    private let hosts: Set<String>

    private struct State: Sendable {
        var daemon: MicroHTTPDaemon?
        var isStopped = false
        /// Suspended exchanges and the tasks that respond to them.
        var waiting: [ObjectIdentifier: Waiting] = [:]
    }

    private struct Waiting: Sendable {
        let exchange: Exchange
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    init(
        configuration: LoopbackServer.Configuration, hosts: Set<String>, port: UInt16,
        handler: @escaping LoopbackServer.Handler
    ) {
        self.configuration = configuration
        self.hosts = hosts
        self.port = port
        self.handler = handler
    }

    func start(_ socket: consuming ListeningSocket) throws(LoopbackError) {
        let daemon = try MicroHTTPDaemon(serving: self, on: socket)
        state.withLock { $0.daemon = daemon }
    }

    func stop() {
        let (daemon, tasks) = state.withLock { state in
            state.isStopped = true
            // A daemon must not be stopped with suspended connections.
            for waiting in state.waiting.values { waiting.exchange.resume() }
            let tasks = state.waiting.values.compactMap(\.task)
            state.waiting = [:]
            return (state.daemon.take(), tasks)
        }
        for task in tasks { task.cancel() }
        daemon?.stop()
    }

    // MARK: - What the daemon's thread asks

    /// Whether a connection is allowed.
    func accepts(_ peer: LoopbackPeer?) -> Bool {
        switch configuration.peers {
        case .anyUser: return true
        case .sameUser:
            // The kernel's table is read in pieces and may miss a row while it changes.
            for _ in 0..<3 {
                if let owner = peer?.userID { return Self.isTrusted(owner, by: geteuid()) }
            }
            return false
        }
    }

    static func isTrusted(_ owner: UInt32, by user: UInt32) -> Bool { owner == user || owner == 0 }

    /// The status with which a request is refused before its body is read, or `nil` to go on.
    func refusal(of exchange: Exchange) -> Int? {
        guard let host = exchange.field("Host"), hosts.contains(where: host.hasSameOctetsButForCase) else { return 421 }
        guard exchange.hasPath else { return 400 }
        guard let method = exchange.method, configuration.methods.contains(method) else { return 405 }
        if let length = exchange.field("Content-Length") {
            guard let length = Int(length) else { return 400 }
            if length > configuration.maximumBodyByteCount { return 413 }
        }
        return nil
    }

    /// Suspends the exchange until the handler has responded. Returns false when the server is stopping.
    func handle(_ exchange: Exchange) -> Bool {
        let identifier = ObjectIdentifier(exchange)
        let isWaiting = state.withLock { state in
            guard !state.isStopped else { return false }
            exchange.suspend()
            state.waiting[identifier] = Waiting(exchange: exchange)
            return true
        }
        guard isWaiting else { return false }
        let task = Task { [handler, weak self] in
            guard let request = self?.request(of: exchange) else { return }
            let response = await handler(request)
            guard let self else {
                response.whenEnded?()
                return
            }
            respond(to: exchange, with: response)
        }
        let isStopped = state.withLock { state in
            state.waiting[identifier]?.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
        return true
    }

    /// Uses only a waiting exchange: `stop` removes an exchange from the table before the daemon's thread closes the
    /// connection.
    private func request(of exchange: Exchange) -> LoopbackRequest? {
        state.withLock { state in
            state.waiting[ObjectIdentifier(exchange)] == nil ? nil : exchange.takeRequest()
        }
    }

    private func respond(to exchange: Exchange, with response: consuming LoopbackResponse) {
        var response: LoopbackResponse? = consume response
        state.withLock { state in
            guard state.waiting.removeValue(forKey: ObjectIdentifier(exchange)) != nil,
                let response = response.take()
            else { return }
            exchange.give(response)
            exchange.resume()
        }
        // The server has stopped and closed the connection, so the response isn't sent.
        if let response { response.whenEnded?() }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }
}
