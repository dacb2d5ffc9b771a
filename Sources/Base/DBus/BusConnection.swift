internal import CLatchkeyGLib
package import LatchkeySystem
internal import Synchronization

/// A method, with the type of its reply.
package struct BusMethod: Sendable {
    package let interface: StaticString
    package let name: StaticString
    package let reply: StaticString

    package init(interface: StaticString, name: StaticString, reply: StaticString) {
        self.interface = interface
        self.name = name
        self.reply = reply
    }
}

/// A connection to a message bus. GDBus completes calls on the GLib thread, which also makes them.
@safe package final class BusConnection: Sendable {
    private let object: ObjectReference
    /// The number of the filter that a receiver hears calls by; 0 for none.
    let filter = Atomic<UInt32>(0)
    /// The messages since the beginning of the last flush.
    private let sent = Atomic(0)
    private let unread = Atomic(0)

    private init(adopting pointer: UnsafeMutableRawPointer) {
        unsafe object = ObjectReference(adopting: pointer)
    }

    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe object.withPointer { unsafe body(OpaquePointer($0)) }
    }

    // MARK: - Opening

    /// The process's one connection to the session bus, which libsecret has as well.
    @GLibThread package static func openSession(_ trigger: Trigger) async throws(BusFault) -> BusConnection {
        try unsafe await open(
            trigger, { unsafe g_bus_get(G_BUS_TYPE_SESSION, $0, $1, $2) }, { unsafe g_bus_get_finish($0, $1) })
    }

    /// Connects to the bus at an address. The attempt ends after ten seconds without a response.
    ///
    /// - Parameters:
    ///   - address: as in DBUS_SESSION_BUS_ADDRESS.
    ///   - receiver: the receiver of calls and signals, until the connection is closed.
    @GLibThread package static func open(
        _ address: String, _ receiver: (any BusReceiver)? = nil
    ) async throws(BusFault) -> BusConnection {
        let flags = GDBusConnectionFlags(
            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        let timeout = try Timeout(.seconds(10))
        let connection = try unsafe await open(
            timeout.trigger, { unsafe g_dbus_connection_new_for_address(address, flags, nil, $0, $1, $2) },
            { unsafe g_dbus_connection_new_for_address_finish($0, $1) })
        if let receiver { connection.deliver(to: receiver) }
        return connection
    }

    @GLibThread private static func open(
        _ trigger: Trigger, _ call: (OpaquePointer, GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void,
        _ finish: (OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> OpaquePointer?
    ) async throws(BusFault) -> BusConnection {
        let pending = withSignalsBlocked {
            unsafe begin { callback, data in unsafe trigger.withPointer { unsafe call($0, callback, data) } }
        }
        let pointer = try unsafe await trigger.wait(pending).finish(finish)
        // Otherwise GDBus ends the process when the bus goes away.
        unsafe g_dbus_connection_set_exit_on_close(pointer, 0)
        return unsafe BusConnection(adopting: UnsafeMutableRawPointer(pointer!))
    }

    /// The name that the bus gave this connection, such as `:1.7`.
    package var uniqueName: String {
        unsafe withPointer { unsafe String(cString: g_dbus_connection_get_unique_name($0)) }
    }

    package var isClosed: Bool { unsafe withPointer { unsafe g_dbus_connection_is_closed($0) != 0 } }

    /// Sends what waits to be sent, and closes the connection.
    package func close() {
        let filter = filter.exchange(0, ordering: .relaxed)
        unsafe withPointer { connection in
            unsafe _ = g_dbus_connection_flush_sync(connection, nil, nil)
            unsafe _ = g_dbus_connection_close_sync(connection, nil, nil)
            if filter != 0 { unsafe g_dbus_connection_remove_filter(connection, filter) }
        }
    }

    // MARK: - Calling

    /// Starts a method call, on the GLib thread; the reply must have the method's type. The trigger ends it, GDBus's own
    /// time limit is off.
    ///
    /// - Parameter descriptor: handed along as the message's only one; it stays the caller's.
    @discardableResult
    package func start(
        _ method: BusMethod, on path: String, of destination: String, _ arguments: BusValue, trigger: Trigger,
        descriptor: Int32? = nil, completing pending: Pending<AsyncResult> = Pending()
    ) -> Pending<AsyncResult> {
        let list = unsafe descriptor.map { _ in unsafe g_unix_fd_list_new()! }
        if let descriptor { unsafe _ = g_unix_fd_list_append(list, descriptor, nil) }
        defer { if let list = unsafe list { unsafe g_object_unref(UnsafeMutableRawPointer(list)) } }
        return unsafe begin(completing: pending) { callback, data in
            unsafe withPointer { connection in
                unsafe arguments.withPointer { arguments in
                    unsafe trigger.withPointer { cancellable in
                        unsafe g_dbus_connection_call_with_unix_fd_list(
                            connection, destination, path, method.interface.description, method.name.description,
                            arguments, busType(method.reply), G_DBUS_CALL_FLAGS_NONE, Int32.max, list,
                            cancellable, callback, data)
                    }
                }
            }
        }
    }

    package func reply(_ result: AsyncResult) throws(BusFault) -> BusValue {
        let pointer = try unsafe result.finish { result, error in
            unsafe withPointer { unsafe g_dbus_connection_call_with_unix_fd_list_finish($0, nil, result, error) }
        }
        return unsafe BusValue(adopting: pointer!)
    }

    /// Calls a method and waits for its reply, at most so long.
    @GLibThread package func call(
        _ method: BusMethod, on path: String, of destination: String, _ arguments: [BusValue] = [],
        within duration: Duration = .seconds(10), descriptor: Int32? = nil
    ) async throws(BusFault) -> BusValue {
        let timeout = try Timeout(duration)
        return try await call(method, on: path, of: destination, arguments, timeout.trigger, descriptor: descriptor)
    }

    @GLibThread func call(
        _ method: BusMethod, on path: String, of destination: String, _ arguments: [BusValue], _ trigger: Trigger,
        descriptor: Int32? = nil
    ) async throws(BusFault) -> BusValue {
        let pending = start(
            method, on: path, of: destination, .tuple(arguments), trigger: trigger, descriptor: descriptor)
        return try reply(await trigger.wait(pending))
    }

    // MARK: - Sending

    /// The limit of a message that is sent. A bus closes the connection that sends a larger one.
    ///
    /// dbus-daemon's default is the smallest of the limits. D-Bus itself permits 128 MiB, and 64 MiB in an array (D-Bus
    /// Specification, "Marshaling").
    package static let maximumMessageByteCount = 32 << 20

    /// A response above the limit isn't sent. The caller gets the error LimitsExceeded instead.
    package func reply(to call: BusCall, _ result: Result<BusValue, BusFault>) {
        guard call.message.wantsReply else { return }
        let isSent = unsafe call.message.withPointer { message in
            switch result {
            case .success(let value):
                let reply = unsafe g_dbus_message_new_method_reply(message)!
                unsafe value.withPointer { unsafe g_dbus_message_set_body(reply, $0) }
                return unsafe send(reply, bodyByteCount: value.byteCount)
            case .failure(let fault):
                return unsafe send(g_dbus_message_new_method_error_literal(message, fault.name, fault.text)!)
            }
        }
        if !isSent, case .success = result {
            reply(to: call, .failure(BusFault(.limitsExceeded, "the response is larger than a message may be")))
        }
    }

    /// A signal above the limit isn't sent.
    ///
    /// - Parameter destination: the one connection that gets it; `nil` for all.
    package func emit(
        _ name: StaticString, of interface: StaticString, from path: String, to destination: String? = nil,
        _ arguments: [BusValue]
    ) {
        let signal = unsafe g_dbus_message_new_signal(path, interface.description, name.description)!
        let body = BusValue.tuple(arguments)
        unsafe body.withPointer { unsafe g_dbus_message_set_body(signal, $0) }
        if let destination { unsafe g_dbus_message_set_destination(signal, destination) }
        unsafe _ = send(signal, bodyByteCount: body.byteCount)
    }

    /// Overwrites the rest of earlier messages in GDBus's read buffer, by a signal of this length to this process. GDBus
    /// keeps the buffer for the next message, which is rarely as long.
    package func overwriteReadBuffer(_ byteCount: Int) {
        let zeros = [UInt8](repeating: 0, count: byteCount)
        emit("Overwritten", of: "org.latchkey.Buffer", from: "/", to: uniqueName, [.bytes(zeros)])
    }

    /// How many bytes were sent since the last flush began. GDBus has them in memory until the bus has read them.
    package var sentByteCount: Int { sent.load(ordering: .relaxed) }

    /// The number of sent bytes that the bus may still have in memory because other connections don't read them. This
    /// upper estimate grows until the next `askForUnreadByteCount`.
    package var unreadByteCount: Int { unread.load(ordering: .relaxed) }

    package func askForUnreadByteCount() async {
        unread.store(await unreadByteCounts(of: uniqueName).sentByIt, ordering: .relaxed)
    }

    /// Waits until the bus has read what was sent.
    ///
    /// Any reply of the bus shows it; GDBus's own flush only knows that it was written, and starts a thread for that.
    ///
    /// - Parameter duration: how long; by default as long as it takes.
    @GLibThread package func flush(within duration: Duration? = nil) async {
        sent.store(0, ordering: .relaxed)
        guard let timeout = try? Timeout(duration) else { return }
        _ = try? await callBus("Ping", of: "org.freedesktop.DBus.Peer", reply: "()", timeout.trigger)
    }

    /// Takes over the message. Returns whether it was sent.
    ///
    /// - Parameter bodyByteCount: the size of its body as a value.
    private func send(_ message: OpaquePointer, bodyByteCount: Int = 0) -> Bool {
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(message)) }
        guard unsafe Self.isWithinLimit(message, bodyByteCount: bodyByteCount) else { return false }
        sent.add(Self.messageByteCount + bodyByteCount, ordering: .relaxed)
        unread.add(Self.messageByteCount + bodyByteCount, ordering: .relaxed)
        return unsafe withPointer {
            unsafe g_dbus_connection_send_message($0, message, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, nil) != 0
        }
    }

    /// Whether the bus accepts a message of this size.
    private static func isWithinLimit(_ message: OpaquePointer, bodyByteCount: Int) -> Bool {
        // Lengths and padding make strings, paths and bytes less than four times as large in a message. GDBus counts
        // them only by writing a whole message: 0.2 s for 32 MiB of paths.
        guard bodyByteCount > maximumMessageByteCount / 4 else { return true }
        guard bodyByteCount <= maximumMessageByteCount else { return false }
        var byteCount: UInt = 0
        let bytes = unsafe g_dbus_message_to_blob(message, &byteCount, G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, nil)
        defer { unsafe g_free(bytes) }
        return unsafe bytes != nil && byteCount <= maximumMessageByteCount
    }

    /// The approximate size of a message without its arguments.
    private static let messageByteCount = 512
}

/// A trigger that is pulled after a time, unless the value dies before.
private struct Timeout: ~Copyable {
    let trigger: Trigger
    private let timer: Timer?

    /// - Parameter duration: `nil` for any time.
    @GLibThread init(_ duration: Duration?) throws(BusFault) {
        let context = try mapError(BusFault.init, of: GLibThread.context())
        trigger = Trigger(context)
        timer = if let duration { context.timer(after: duration, trigger) } else { nil }
    }
}
