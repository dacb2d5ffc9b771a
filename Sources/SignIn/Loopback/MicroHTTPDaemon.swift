internal import CLatchkeyMicroHTTPD
internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem

/// The library's daemon with its thread. All calls to libmicrohttpd are in here, Connection.swift and
/// OutgoingMessage.swift.
@safe final class MicroHTTPDaemon: @unchecked Sendable {
    // Sendable: the pointer is used once more, to stop the daemon.
    private let pointer: OpaquePointer
    /// Keeps the callbacks' argument alive.
    private let owner: LoopbackDaemon

    init(serving owner: LoopbackDaemon, on socket: consuming ListeningSocket) throws(LoopbackError) {
        let context = unsafe Unmanaged.passUnretained(owner).toOpaque()
        let configuration = owner.configuration
        let timeout = max(1, Int(configuration.idleTimeout.components.seconds))
        // When it can't start, the library closes the socket on some of its ways out and not on others: it gets a
        // descriptor of its own, so that none is closed twice.
        let theirs = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 3)
        close(socket.descriptor)
        guard theirs >= 0 else { throw LoopbackError(.other, port: socket.port) }
        var options = unsafe [
            latchkey_option_target(targetCallback, context),
            latchkey_option_completed(completedCallback, nil),
            MHD_OptionItem(
                option: .LISTEN_SOCKET, value: Int(theirs), ptr_value: nil),
            // Above 32 KiB the library maps the memory instead of taking it from the heap, so nothing stays behind.
            MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: 65_536, ptr_value: nil),
            MHD_OptionItem(
                option: .CONNECTION_LIMIT, value: configuration.maximumConnectionCount, ptr_value: nil),
            MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: timeout, ptr_value: nil),
            MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: 1, ptr_value: nil),
        ]
        let end = unsafe MHD_OptionItem(option: .END, value: 0, ptr_value: nil)
        let pointer = unsafe Self.withTLS(configuration.tls) { tls in
            unsafe options += tls + [end]
            return unsafe withSignalsBlocked {
                unsafe latchkey_daemon_start(
                    tls.isEmpty ? 0 : 1, acceptCallback, context, handleCallback, context, &options)
            }
        }
        guard let pointer = unsafe pointer else {
            throw LoopbackError(configuration.tls == nil ? .other : .badCertificate, port: socket.port)
        }
        unsafe self.pointer = unsafe pointer
        self.owner = owner
    }

    /// Closes all connections and joins the thread. Once.
    func stop() {
        unsafe microHTTPD.MHD_stop_daemon(pointer)
    }

    @unsafe private static func withTLS<Result>(
        _ tls: LoopbackTLS?, _ body: ([MHD_OptionItem]) -> Result
    ) -> Result {
        guard let tls else { return unsafe body([]) }
        return tls.key.withExposedBytes { key in
            unsafe key.withUnsafeBytes { key in
                tls.certificate.withExposedBytes { certificate in
                    unsafe certificate.withUnsafeBytes { certificate in
                        unsafe body([
                            MHD_OptionItem(
                                option: .HTTPS_MEM_KEY, value: 0,
                                ptr_value: UnsafeMutableRawPointer(mutating: key.baseAddress)),
                            MHD_OptionItem(
                                option: .HTTPS_MEM_CERT, value: 0,
                                ptr_value: UnsafeMutableRawPointer(mutating: certificate.baseAddress)),
                        ])
                    }
                }
            }
        }
    }
}

// MARK: - Callbacks

/// Called first for each request, with its target verbatim from the first line.
private let targetCallback:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
        _, target, connection in
        guard let target = unsafe target, let connection = unsafe connection else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
        let exchange = unsafe Exchange(connection: Connection(connection), target: Span(_unsafeBytes: bytes))
        // Released by `completedCallback`.
        return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }

private let completedCallback: MHD_RequestCompletedCallback = { _, _, context, _ in
    guard let pointer = unsafe context?.pointee else { return }
    unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().ended()
    unsafe context?.pointee = nil
}

private let acceptCallback: MHD_AcceptPolicyCallback = { owner, address, _ in
    guard let owner = unsafe owner else { return .NO }
    let daemon = unsafe Unmanaged<LoopbackDaemon>.fromOpaque(owner).takeUnretainedValue()
    return daemon.accepts(unsafe LoopbackPeer(address, serverPort: daemon.port)) ? .YES : .NO
}

/// Called when the header is there, for each piece of the body, at the end of it, and again after a suspension.
private let handleCallback: MHD_AccessHandlerCallback = { owner, _, _, method, _, bytes, count, context in
    guard let owner = unsafe owner, let method = unsafe method, let pointer = unsafe context?.pointee,
        let count = unsafe count
    else { return .NO }
    let daemon = unsafe Unmanaged<LoopbackDaemon>.fromOpaque(owner).takeUnretainedValue()
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    if exchange.stage == .header { return daemon.begin(exchange, method: unsafe String(cString: method)) }
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count.pointee)
    unsafe count.pointee = 0
    return unsafe daemon.proceed(exchange, body: Span(_unsafeBytes: piece))
}

extension LoopbackDaemon {
    fileprivate func begin(_ exchange: Exchange, method: String) -> MHD_Result {
        exchange.begin(method: method, maximumBodyByteCount: configuration.maximumBodyByteCount)
        guard let status = refusal(of: exchange) else { return .YES }
        var fields: [LoopbackField] = []
        if status == 405 {
            let methods = configuration.methods.map(\.rawValue).sorted().joined(separator: ", ")
            fields.append(LoopbackField("Allow", methods))
        }
        return exchange.send(
            LoopbackResponse(status: status, contentType: "text/plain", publicText: "\(status)\n", fields: fields))
    }

    fileprivate func proceed(_ exchange: Exchange, body: Span<UInt8>) -> MHD_Result {
        switch exchange.stage {
        case .header: return .NO
        case .body where !body.isEmpty: return exchange.take(body) ? .YES : .NO
        case .body:
            guard exchange.finish(serverPort: port), handle(exchange) else { return .NO }
            return .YES
        case .received: return .NO
        case .responded:
            guard !isStopped, let response = exchange.takeResponse() else { return .NO }
            return exchange.send(response)
        }
    }
}
