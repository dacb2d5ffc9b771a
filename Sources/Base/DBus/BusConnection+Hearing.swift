internal import CLatchkeyGLib
internal import Glibc
internal import LatchkeySystem
internal import Synchronization

/// Receives the calls and signals of a connection, on GDBus's thread, which must not be held up.
package protocol BusReceiver: AnyObject, Sendable {
    /// Returns whether the call is this one's to answer.
    func receive(_ call: BusCall, on connection: BusConnection) -> Bool
    func receive(signal: BusMessage)
    /// Called on the GLib thread when the bus is gone or this process closed the connection.
    func connectionDidEnd()
}

extension BusConnection {
    /// GDBus's filter gets the calls before GDBus looks for objects. This limits a flood at its entry, and objects for
    /// a vault of any size aren't needed here. `close` ends the delivery.
    func deliver(to receiver: any BusReceiver) {
        let filter = unsafe Unmanaged.passRetained(MessageFilter(connection: self, receiver: receiver))
        let number = unsafe withPointer { connection in
            unsafe g_dbus_connection_add_filter(
                connection,
                { _, message, isIncoming, data in
                    guard isIncoming != 0 else { return unsafe message }
                    let filter = unsafe Unmanaged<MessageFilter>.fromOpaque(data!).takeUnretainedValue()
                    guard unsafe filter.take(BusMessage(retaining: message!)) else { return unsafe message }
                    unsafe g_object_unref(UnsafeMutableRawPointer(message))
                    return nil
                }, filter.toOpaque(), { unsafe Unmanaged<MessageFilter>.fromOpaque($0!).release() })
        }
        self.filter.store(number, ordering: .relaxed)
        onEnd { receiver.connectionDidEnd() }
    }

    private final class MessageFilter: Sendable {
        private let connection: BusConnection
        private let receiver: any BusReceiver

        init(connection: BusConnection, receiver: any BusReceiver) {
            self.connection = connection
            self.receiver = receiver
        }

        func take(_ message: BusMessage) -> Bool {
            if let call = BusCall(message) { return receiver.receive(call, on: connection) }
            if message.isSignal { receiver.receive(signal: message) }
            return false
        }
    }

    /// Whether more has come in than what was received. Only on GDBus's thread, which reads one message after another.
    package var hasInput: Bool {
        let stream = unsafe withPointer { unsafe g_dbus_connection_get_stream($0) }
        let socket = unsafe g_socket_get_fd(g_socket_connection_get_socket(stream))
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// Calls `receive` on the GLib thread for each signal of a sender, until the returned value dies.
    ///
    /// - Parameters:
    ///   - path: of the object that sends it; `nil` for any.
    ///   - first: what the signal's first argument must be, if it matters.
    package func subscribe(
        sender: String?, interface: StaticString, signal: StaticString?, path: String? = nil, first: String? = nil,
        _ receive: @escaping @Sendable (BusSignal) -> Void
    ) -> Subscription {
        let receiver = Receiver(receive)
        let id = unsafe withPointer { connection in
            unsafe g_dbus_connection_signal_subscribe(
                connection, sender, interface.description, signal?.description, path, first,
                G_DBUS_SIGNAL_FLAGS_NONE,
                { _, _, path, _, name, arguments, data in
                    let receiver = unsafe Unmanaged<Receiver>.fromOpaque(data!).takeUnretainedValue()
                    let signal = unsafe BusSignal(
                        path: String(cString: path!), name: String(cString: name!),
                        arguments: BusValue(retaining: arguments!))
                    receiver.value(signal)
                }, Unmanaged.passRetained(receiver).toOpaque(),
                { unsafe Unmanaged<Receiver>.fromOpaque($0!).release() })
        }
        return Subscription(connection: self, end: .signal(id))
    }

    /// Calls `receive` on the GLib thread when the connection is closed, until the returned value dies.
    package func subscribeToEnd(_ receive: @escaping @Sendable () -> Void) -> Subscription {
        Subscription(connection: self, end: .handler(onEnd(receive)))
    }

    @discardableResult
    private func onEnd(_ receive: @escaping @Sendable () -> Void) -> UInt {
        let receiver = Receiver { _ in receive() }
        return unsafe withPointer { connection in
            unsafe UInt(
                latchkey_connection_on_closed(
                    connection,
                    { _, _, _, data in
                        let receiver = unsafe Unmanaged<Receiver>.fromOpaque(data!).takeUnretainedValue()
                        receiver.value(BusSignal(path: "/", name: "closed", arguments: .none))
                    }, Unmanaged.passRetained(receiver).toOpaque(),
                    { data, _ in unsafe Unmanaged<Receiver>.fromOpaque(data!).release() }))
        }
    }

    fileprivate func unsubscribe(_ end: Subscription.End) {
        unsafe withPointer { connection in
            switch end {
            case .signal(let id): unsafe g_dbus_connection_signal_unsubscribe(connection, id)
            case .handler(let id): unsafe g_signal_handler_disconnect(UnsafeMutableRawPointer(connection), gulong(id))
            }
        }
    }

    private typealias Receiver = Box<@Sendable (BusSignal) -> Void>
}

/// A signal as it came over the bus. Its arguments are as the sender made them: check their type.
package struct BusSignal: Sendable {
    package let path: String
    package let name: String
    package let arguments: BusValue
}

/// A subscription to signals, until the value dies.
package struct Subscription: ~Copyable, Sendable {
    fileprivate enum End: Sendable {
        case signal(UInt32)
        case handler(UInt)
    }
    fileprivate let connection: BusConnection
    fileprivate let end: End

    deinit {
        connection.unsubscribe(end)
    }
}
