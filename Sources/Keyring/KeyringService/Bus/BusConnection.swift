internal import CLatchkeyGIO
internal import LatchkeySystem
internal import Synchronization

/// What a connection tells of: from GDBus's thread, which must not be held up.
protocol BusReceiver: AnyObject, Sendable {
    /// Returns whether the call is this one's to answer.
    func receive(_ call: BusCall, on connection: BusConnection) -> Bool
    func receive(signal: BusMessage)
    /// The bus is gone, or the connection was closed here.
    func connectionDidEnd()
}

/// A connection to a message bus, with a thread of its own on which GDBus completes calls.
///
/// Calls are taken off in GDBus's filter, before GDBus looks for objects: so a flood is bounded where it comes in, and a
/// vault of any size costs no objects here.
@safe final class BusConnection: @unchecked Sendable {
    // Sendable: GDBus's connections and contexts may be used from any thread, and the pointers never change.
    private let pointer: OpaquePointer
    private let context: OpaquePointer
    private let receiver: any BusReceiver
    private let isEnded = Atomic(false)
    /// Those that wait for a reply.
    private let calls = Atomic(0)
    /// What was sent since the last flush began.
    private let sent = Atomic(0)

    /// The name that the bus gave this connection, such as `:1.7`.
    let uniqueName: String

    /// Connects, and says Hello. A bus that doesn't respond is given up after ten seconds.
    ///
    /// - Parameter address: as in DBUS_SESSION_BUS_ADDRESS.
    static func open(_ address: String, _ receiver: any BusReceiver) async throws(BusFault) -> BusConnection {
        let patience = Cancellable()
        let timer = Task {
            try await Task.sleep(for: .seconds(10))
            patience.cancel()
        }
        defer { timer.cancel() }
        let result: Result<BusConnection, BusFault> = await withCheckedContinuation { continuation in
            let isStarted = startThread {
                let opened = opening(address, receiver, patience)
                continuation.resume(returning: opened)
                if case .success(let connection) = opened { connection.iterate() }
            }
            if !isStarted { continuation.resume(returning: .failure(BusFault(.failed, "no thread could be started"))) }
        }
        return try result.get()
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        failure(SystemErrorNumber.self, of: try SystemThread.detach(body)) == nil
    }

    private static func opening(
        _ address: String, _ receiver: any BusReceiver, _ patience: Cancellable
    ) -> Result<BusConnection, BusFault> {
        let context = unsafe g_main_context_new()!
        unsafe g_main_context_push_thread_default(context)
        let flags = GDBusConnectionFlags(
            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        return Result { () throws(BusFault) in
            let pointer = try unsafe checked { error in
                unsafe patience.withPointer { patience in
                    unsafe g_dbus_connection_new_for_address_sync(address, flags, nil, patience, error)
                }
            }
            return unsafe BusConnection(pointer!, context, receiver)
        }
    }

    private init(_ pointer: OpaquePointer, _ context: OpaquePointer, _ receiver: any BusReceiver) {
        unsafe self.pointer = pointer
        unsafe self.context = context
        self.receiver = receiver
        uniqueName = unsafe String(cString: g_dbus_connection_get_unique_name(pointer))
        // Otherwise GDBus ends the process when the bus goes away.
        unsafe g_dbus_connection_set_exit_on_close(pointer, 0)
        // Both live as long as the connection's thread, which keeps this object.
        let data = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe g_dbus_connection_add_filter(
            pointer,
            { _, message, isIncoming, data in
                guard isIncoming != 0 else { return unsafe message }
                let connection = unsafe Unmanaged<BusConnection>.fromOpaque(data!).takeUnretainedValue()
                guard unsafe connection.take(BusMessage(retaining: message!)) else { return unsafe message }
                unsafe g_object_unref(UnsafeMutableRawPointer(message))
                return nil
            }, data, nil)
        unsafe _ = latchkey_gio_on_closed(
            pointer,
            { _, _, _, data in
                unsafe Unmanaged<BusConnection>.fromOpaque(data!).takeUnretainedValue().end()
            }, data)
    }

    deinit {
        unsafe g_object_unref(UnsafeMutableRawPointer(pointer))
        unsafe g_main_context_unref(context)
    }

    // MARK: - The thread

    private func iterate() {
        while !isEnded.load(ordering: .sequentiallyConsistent) { unsafe _ = g_main_context_iteration(context, 1) }
        receiver.connectionDidEnd()
        // GDBus ends the calls that were waiting, in this context.
        while calls.load(ordering: .sequentiallyConsistent) > 0 { unsafe _ = g_main_context_iteration(context, 1) }
        // GDBus's worker may be in the filter still: the object stays for it. One connection a process, so it costs
        // nothing.
        unsafe _ = Unmanaged.passRetained(self)
    }

    private func end() {
        isEnded.store(true, ordering: .sequentiallyConsistent)
        unsafe g_main_context_wakeup(context)
    }

    private func take(_ message: BusMessage) -> Bool {
        if let call = BusCall(message) { return receiver.receive(call, on: self) }
        if message.isSignal { receiver.receive(signal: message) }
        return false
    }

    /// Sends what waits to be sent, and closes the connection.
    func close() {
        unsafe _ = g_dbus_connection_flush_sync(pointer, nil, nil)
        unsafe _ = g_dbus_connection_close_sync(pointer, nil, nil)
        end()
    }

    // MARK: - Sending

    func reply(to call: BusCall, _ result: Result<BusValue, BusFault>) {
        guard call.message.wantsReply else { return }
        let isSent = unsafe call.message.withPointer { message in
            switch result {
            case .success(let value):
                let reply = unsafe g_dbus_message_new_method_reply(message)!
                unsafe value.withPointer { unsafe g_dbus_message_set_body(reply, $0) }
                sent.add(value.byteCount, ordering: .relaxed)
                return unsafe send(reply)
            case .failure(let fault):
                return unsafe send(g_dbus_message_new_method_error_literal(message, fault.name, fault.text)!)
            }
        }
        // What is larger than a message may be isn't sent, and the caller is told so.
        if !isSent, case .success = result {
            reply(to: call, .failure(BusFault(.limitsExceeded, "the response is larger than a message may be")))
        }
    }

    /// - Parameter destination: the one connection that gets it; `nil` for all.
    func emit(
        _ name: StaticString, of interface: StaticString, from path: String, to destination: String? = nil,
        _ arguments: [BusValue]
    ) {
        let signal = unsafe g_dbus_message_new_signal(path, interface.description, name.description)!
        unsafe BusValue.tuple(arguments).withPointer { unsafe g_dbus_message_set_body(signal, $0) }
        if let destination { unsafe g_dbus_message_set_destination(signal, destination) }
        unsafe _ = send(signal)
    }

    /// Overwrites what the last messages left in GDBus's buffer for what is read: it is kept for the next message, which
    /// is seldom as long. A signal of this length to ourselves is.
    func overwriteReadBuffer(_ byteCount: Int) {
        let zeros = [UInt8](repeating: 0, count: byteCount)
        emit("Overwritten", of: BusInterface.agents.name, from: KeyringPath.root, to: uniqueName, [.bytes(zeros)])
    }

    /// How many bytes were sent since the last flush began. GDBus has them in memory until the bus has read them.
    var sentByteCount: Int { sent.load(ordering: .relaxed) }

    /// Waits until the bus has read what was sent.
    func flush() async {
        sent.store(0, ordering: .relaxed)
        _ = try? await complete { connection, pending in
            unsafe g_dbus_connection_flush(
                connection.pointer, nil,
                { source, result, data in
                    let pending = unsafe Unmanaged<Pending>.fromOpaque(data!).takeRetainedValue()
                    unsafe _ = g_dbus_connection_flush_finish(OpaquePointer(source), result, nil)
                    pending.continuation.resume(returning: .success(.none))
                }, Unmanaged.passRetained(pending).toOpaque())
        }
    }

    /// Takes over the message.
    private func send(_ message: OpaquePointer) -> Bool {
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(message)) }
        sent.add(Self.messageByteCount, ordering: .relaxed)
        return unsafe g_dbus_connection_send_message(pointer, message, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, nil) != 0
    }

    /// What a message takes beside its arguments, about.
    private static let messageByteCount = 512

    // MARK: - Calling

    private final class Pending: Sendable {
        let connection: BusConnection
        let begin: @Sendable (BusConnection, Pending) -> Void
        let continuation: CheckedContinuation<Result<BusValue, BusFault>, Never>

        init(
            _ connection: BusConnection, _ continuation: CheckedContinuation<Result<BusValue, BusFault>, Never>,
            _ begin: @escaping @Sendable (BusConnection, Pending) -> Void
        ) {
            self.connection = connection
            self.continuation = continuation
            self.begin = begin
        }
    }

    /// Calls a method of the bus or of another connection.
    ///
    /// - Parameter descriptor: handed along as the message's only one; it stays the caller's.
    func call(
        _ destination: String, _ path: String, _ interface: StaticString, _ member: StaticString,
        _ arguments: [BusValue], within duration: Duration = .seconds(10), descriptor: Int32? = nil
    ) async throws(BusFault) -> BusValue {
        let (seconds, attoseconds) = duration.components
        let milliseconds = Int32(clamping: max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
        let value = BusValue.tuple(arguments)
        return try await complete { connection, pending in
            let list = unsafe descriptor.map { _ in unsafe g_unix_fd_list_new()! }
            if let descriptor { unsafe _ = g_unix_fd_list_append(list, descriptor, nil) }
            unsafe value.withPointer { value in
                unsafe g_dbus_connection_call_with_unix_fd_list(
                    connection.pointer, destination, path, interface.description, member.description, value, nil,
                    G_DBUS_CALL_FLAGS_NO_AUTO_START, milliseconds, list, nil, Self.finish,
                    Unmanaged.passRetained(pending).toOpaque())
            }
            if let list = unsafe list { unsafe g_object_unref(UnsafeMutableRawPointer(list)) }
        }
    }

    /// Begins what GDBus completes later, on the connection's thread, and waits for it.
    private func complete(
        _ begin: @escaping @Sendable (BusConnection, Pending) -> Void
    ) async throws(BusFault) -> BusValue {
        // Counted first: the thread goes on while a call is counted.
        calls.add(1, ordering: .sequentiallyConsistent)
        defer {
            if calls.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
                unsafe g_main_context_wakeup(context)
            }
        }
        guard !isEnded.load(ordering: .sequentiallyConsistent) else { throw BusFault(.disconnected, "") }
        return try await withCheckedContinuation { continuation in
            let pending = Pending(self, continuation, begin)
            // GDBus completes a call in the context of the thread that made it: so the call is made there.
            unsafe g_main_context_invoke(
                context,
                { data in
                    let pending = unsafe Unmanaged<Pending>.fromOpaque(data!).takeRetainedValue()
                    pending.begin(pending.connection, pending)
                    return 0
                }, Unmanaged.passRetained(pending).toOpaque())
        }.get()
    }

    private static let finish: GAsyncReadyCallback = { source, result, data in
        let pending = unsafe Unmanaged<Pending>.fromOpaque(data!).takeRetainedValue()
        let reply = Result { () throws(BusFault) in
            let pointer = try unsafe checked {
                unsafe g_dbus_connection_call_with_unix_fd_list_finish(OpaquePointer(source), nil, result, $0)
            }
            return unsafe BusValue(adopting: pointer!)
        }
        pending.continuation.resume(returning: reply)
    }
}

/// What ends a call of GIO's early (GCancellable).
@safe private final class Cancellable: @unchecked Sendable {
    // Sendable: it is made for any thread, and the pointer never changes.
    private let pointer = unsafe g_cancellable_new()!

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(pointer)) }

    func cancel() { unsafe g_cancellable_cancel(pointer) }

    func withPointer<Result>(_ body: (UnsafeMutablePointer<GCancellable>) -> Result) -> Result {
        withExtendedLifetime(self) { unsafe body(pointer) }
    }
}

/// Runs a call that reports a GError, and throws its D-Bus name. Its prose is dropped.
private func checked<Result>(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
) throws(BusFault) -> Result {
    var error: UnsafeMutablePointer<GError>?
    let result = unsafe call(&error)
    guard let error = unsafe error else { return result }
    defer { unsafe g_error_free(error) }
    let name = unsafe g_dbus_error_encode_gerror(error)
    defer { unsafe g_free(name) }
    throw unsafe BusFault(received: name.map { unsafe String(cString: $0) } ?? "")
}
