internal import CLatchkeyMicroHTTPD
internal import LatchkeyLog
package import LatchkeySecrets

/// A small HTTP/1.1 server on 127.0.0.1 or [::1] only: the receiver of redirects, and the server of tests.
///
/// The server ends with `stop()` or with the value; both wait for its one thread, never for a handler. Each connection
/// has one request. The library's buffers (64 KiB a connection, with the request's line and header) are mapped memory,
/// which the kernel reclaims at the end of the connection. Bodies and queries are copied into guarded memory.
package final class LoopbackServer: Sendable {
    package enum Family: Sendable, Hashable { case ipv4, ipv6 }

    /// The rule for connections.
    package enum PeerRule: Sendable, Hashable {
        case anyUser
        /// Only sockets of the process's own user and of root are accepted. root can read the secrets anyway, and passes
        /// on connections from outside (WSL). A socket with an unknown owner is refused.
        case sameUser
    }

    package struct Configuration: Sendable {
        package var family: Family
        /// 0 means any free port.
        package var port: UInt16
        /// Other methods are refused with 405.
        package var methods: Set<LoopbackMethod>
        package var peers: PeerRule
        /// The limit in bytes. A larger body gets 413, or the server closes the connection.
        package var maximumBodyByteCount: Int
        package var maximumConnectionCount: Int
        /// Connections on which nothing happens are closed after this time, in whole seconds.
        package var idleTimeout: Duration
        package var tls: LoopbackTLS?

        package init(
            family: Family = .ipv4, port: UInt16 = 0, methods: Set<LoopbackMethod> = [.get, .head, .post],
            peers: PeerRule = .anyUser, maximumBodyByteCount: Int = 65_536, maximumConnectionCount: Int = 64,
            idleTimeout: Duration = .seconds(10), tls: LoopbackTLS? = nil
        ) {
            self.family = family
            self.port = port
            self.methods = methods
            self.peers = peers
            self.maximumBodyByteCount = maximumBodyByteCount
            self.maximumConnectionCount = maximumConnectionCount
            self.idleTimeout = idleTimeout
            self.tls = tls
        }
    }

    /// Responds to a request. Its task is cancelled when the server stops.
    package typealias Handler = @Sendable (consuming LoopbackRequest) async -> LoopbackResponse

    /// The port it listens on.
    package let port: UInt16
    /// `127.0.0.1:PORT` or `[::1]:PORT`.
    package let authority: String
    /// `http://` or `https://` and the authority.
    package let origin: String

    private let daemon: LoopbackDaemon

    /// Starts listening.
    package init(_ configuration: Configuration = Configuration(), handler: @escaping Handler) throws(LoopbackError) {
        try mapError(
            { LoopbackError(.noLibrary($0), port: configuration.port) },
            of: LibraryFailure.check(latchkey_microhttpd_load()))
        let socket = try ListeningSocket(configuration.family, port: configuration.port)
        port = socket.port
        authority = configuration.family == .ipv4 ? "127.0.0.1:\(port)" : "[::1]:\(port)"
        origin = (configuration.tls == nil ? "http://" : "https://") + authority
        daemon = LoopbackDaemon(
            configuration: configuration, hosts: [authority, "localhost:\(port)"], port: port, handler: handler)
        try daemon.start(socket)
    }

    deinit {
        daemon.stop()
    }

    /// Stops listening, closes all connections and cancels handlers that are still at work. Once is enough.
    package func stop() {
        daemon.stop()
    }
}

/// A certificate and its key, both PEM.
package final class LoopbackTLS: Sendable {
    let certificate: Secret<MessageBody>
    let key: Secret<PrivateKey>

    package init(certificatePEM: String, key: borrowing Secret<PrivateKey>) {
        let bytes = Array(certificatePEM.utf8) + [0]
        certificate = Secret(copying: bytes.span)
        // C wants a zero byte at the end.
        self.key = Secret(byteCount: key.byteCount + 1) { target in
            key.withExposedBytes { target.update(from: $0) }
        }
    }
}
