internal import CLatchkeyLibsecret
internal import LatchkeyCredentials
internal import LatchkeySystem

// This file makes the calls to GLib and GIO, SecretCodec.swift those to libsecret, and Variant.swift makes and
// reads values. What they return is owned and needs no C in its users.

// MARK: - Running and waiting

/// A main context of GLib: what a thread must iterate so that asynchronous calls complete.
@safe struct MainContext: @unchecked Sendable {
    // Sendable: contexts take wake-ups and timers from any thread. It lives as long as the process.
    private let pointer: OpaquePointer

    /// Loads libsecret, and GLib with it, where that wasn't done. There is no other way to a context, and no way to a
    /// call of either without one (see `Interruption`), so none is made before.
    init() throws(StoreError) {
        if let missing = unsafe latchkey_libsecret_load() {
            throw .noSecretServiceLibrary(unsafe String(cString: missing))
        }
        unsafe pointer = g_main_context_new()
    }

    /// From now on, calls made on this thread complete in this context.
    func becomeDefaultOfThread() {
        unsafe g_main_context_push_thread_default(pointer)
    }

    func iterate(waiting: Bool) {
        unsafe g_main_context_iteration(pointer, waiting ? 1 : 0)
    }

    func wakeUp() {
        unsafe g_main_context_wakeup(pointer)
    }

    /// Pulls the trigger after a time, unless the returned timer dies before.
    func timer(after duration: Duration, _ trigger: Trigger) -> Timer {
        let (seconds, attoseconds) = duration.components
        let milliseconds =
            min(max(seconds, 0), 4_000_000) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let source = unsafe g_timeout_source_new(UInt32(max(milliseconds, 0)))!
        unsafe g_source_set_callback(
            source,
            { data in
                unsafe Unmanaged<Trigger>.fromOpaque(data!).takeUnretainedValue().pull()
                return 0
            }, Unmanaged.passRetained(trigger).toOpaque(), { unsafe Unmanaged<Trigger>.fromOpaque($0!).release() })
        unsafe g_source_attach(source, pointer)
        return unsafe Timer(adopting: source)
    }
}

/// A timer that stops when the value dies.
@safe struct Timer: ~Copyable, @unchecked Sendable {
    // Sendable: g_source_destroy may be called from any thread.
    private let source: OpaquePointer

    fileprivate init(adopting source: OpaquePointer) {
        unsafe self.source = source
    }

    deinit {
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
    }
}

/// What cancels calls (GCancellable). It can be used from any thread.
struct Cancellable: ~Copyable, Sendable {
    private let object: ObjectReference

    /// - Parameter context: any, for its library.
    init(_ context: MainContext) {
        unsafe object = ObjectReference(adopting: UnsafeMutableRawPointer(g_cancellable_new()))
    }

    borrowing func cancel() {
        unsafe withPointer { unsafe g_cancellable_cancel($0) }
    }

    borrowing func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe object.withPointer { unsafe body(OpaquePointer($0)) }
    }
}

// MARK: - Owners

/// One reference to a GObject.
@safe struct ObjectReference: ~Copyable, @unchecked Sendable {
    // Sendable: references are counted atomically; what else may be called where is its user's matter.
    private let pointer: UnsafeMutableRawPointer

    init(adopting pointer: UnsafeMutableRawPointer) {
        unsafe self.pointer = pointer
    }

    fileprivate init(retaining pointer: UnsafeMutableRawPointer) {
        unsafe self.pointer = g_object_ref(pointer)
    }

    deinit {
        unsafe g_object_unref(pointer)
    }

    /// Lends the pointer; the object stays alive until `body` returns.
    borrowing func withPointer<Result, Failure: Error>(
        _ body: (UnsafeMutableRawPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(pointer)
    }
}

/// The result of an asynchronous call (GAsyncResult), still to be taken apart by the call's own `finish`.
final class AsyncResult: Sendable {
    private let source: ObjectReference?
    private let result: ObjectReference

    fileprivate init(source: OpaquePointer?, result: OpaquePointer) {
        if let source = unsafe source {
            unsafe self.source = ObjectReference(retaining: UnsafeMutableRawPointer(source))
        } else {
            self.source = nil
        }
        unsafe self.result = ObjectReference(retaining: UnsafeMutableRawPointer(result))
    }

    /// Takes the result apart, and throws what went wrong.
    func finish<Result>(
        _ finish: (OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
    ) throws(BusFailure) -> Result {
        try unsafe result.withPointer { (result) throws(BusFailure) in
            try unsafe checked { unsafe finish(OpaquePointer(result), $0) }
        }
    }
}

/// Completes the pending result that was passed as user data.
private let completePending: GAsyncReadyCallback = { source, result, data in
    let pending = unsafe Unmanaged<Pending<AsyncResult>>.fromOpaque(data!).takeRetainedValue()
    unsafe pending.complete(AsyncResult(source: source, result: result!))
}

/// Starts an asynchronous call whose result completes the returned value.
@discardableResult
func start(
    completing pending: Pending<AsyncResult> = Pending(),
    _ call: (GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void
) -> Pending<AsyncResult> {
    unsafe call(completePending, Unmanaged.passRetained(pending).toOpaque())
    return pending
}

/// Runs a call that reports a GError, and throws the error's domain and number. Its prose is dropped.
private func checked<Result>(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
) throws(BusFailure) -> Result {
    var error: UnsafeMutablePointer<GError>?
    let result = unsafe call(&error)
    guard let error = unsafe error else { return result }
    defer { unsafe g_error_free(error) }
    let remoteName = unsafe g_dbus_error_get_remote_error(error)
    defer { unsafe g_free(remoteName) }
    throw unsafe BusFailure(
        domain: String(cString: g_quark_to_string(error.pointee.domain)), number: Int(error.pointee.code),
        remoteName: remoteName.map { unsafe String(cString: $0) })
}

// MARK: - The bus

/// The process's one connection to the session bus.
@safe final class BusConnection: Sendable {
    private let object: ObjectReference

    private init(adopting pointer: UnsafeMutableRawPointer) {
        unsafe object = ObjectReference(adopting: pointer)
    }

    static func open(_ trigger: Trigger) -> Pending<AsyncResult> {
        unsafe start { callback, data in
            unsafe trigger.cancellable.withPointer { unsafe g_bus_get(G_BUS_TYPE_SESSION, $0, callback, data) }
        }
    }

    static func opened(_ result: AsyncResult) throws(BusFailure) -> BusConnection {
        let pointer = try unsafe result.finish { unsafe g_bus_get_finish($0, $1) }
        // Otherwise GDBus ends the process when the bus goes away.
        unsafe g_dbus_connection_set_exit_on_close(pointer, 0)
        return unsafe BusConnection(adopting: UnsafeMutableRawPointer(pointer!))
    }

    private func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe object.withPointer { unsafe body(OpaquePointer($0)) }
    }

    /// What tells this bus from others, for as long as it lives (D-Bus Specification, "UUIDs").
    var busIdentifier: String {
        unsafe withPointer { unsafe g_dbus_connection_get_guid($0).map { unsafe String(cString: $0) } } ?? ""
    }

    var isClosed: Bool { unsafe withPointer { unsafe g_dbus_connection_is_closed($0) != 0 } }

    /// Starts a method call; the reply must have the method's type. The trigger ends it, GDBus's own time limit is
    /// off.
    @discardableResult
    func call(
        _ method: BusMethod, on path: String, of destination: String, _ arguments: Variant, trigger: Trigger,
        completing pending: Pending<AsyncResult> = Pending()
    ) -> Pending<AsyncResult> {
        unsafe start(completing: pending) { callback, data in
            unsafe withPointer { connection in
                unsafe arguments.withPointer { arguments in
                    unsafe trigger.cancellable.withPointer { cancellable in
                        unsafe g_dbus_connection_call(
                            connection, destination, path, method.interface.description, method.name.description,
                            arguments, variantType(method.reply), G_DBUS_CALL_FLAGS_NO_AUTO_START, Int32.max,
                            cancellable, callback, data)
                    }
                }
            }
        }
    }

    func reply(_ result: AsyncResult) throws(BusFailure) -> Variant {
        let pointer = try unsafe result.finish { result, error in
            unsafe withPointer { unsafe g_dbus_connection_call_finish($0, result, error) }
        }
        return unsafe Variant(adopting: pointer!)
    }

    /// Broadcasts a signal; `KeyringSession.announce` makes sure that it leaves.
    func broadcast(_ name: StaticString, of interface: StaticString, from path: String, _ arguments: Variant) {
        unsafe withPointer { connection in
            unsafe arguments.withPointer { arguments in
                _ = unsafe g_dbus_connection_emit_signal(
                    connection, nil, path, interface.description, name.description, arguments, nil)
            }
        }
    }

    private typealias Receiver = Box<@Sendable (BusSignal) -> Void>

    /// Calls `receive` on the GLib thread for each signal of a sender, until the returned value dies.
    ///
    /// - Parameters:
    ///   - path: of the object that sends it; `nil` for any.
    ///   - first: what the signal's first argument must be, if it matters.
    func subscribe(
        sender: String?, interface: StaticString, signal: StaticString?, path: String? = nil, first: String? = nil,
        _ receive: @escaping @Sendable (BusSignal) -> Void
    ) -> Subscription {
        let receiver: Receiver = Box(receive)
        let id = unsafe withPointer { connection in
            unsafe g_dbus_connection_signal_subscribe(
                connection, sender, interface.description, signal?.description, path, first,
                G_DBUS_SIGNAL_FLAGS_NONE,
                { _, _, path, _, name, arguments, data in
                    let receiver = unsafe Unmanaged<Receiver>.fromOpaque(data!).takeUnretainedValue()
                    let signal = unsafe BusSignal(
                        path: String(cString: path!), name: String(cString: name!),
                        arguments: Variant(adopting: g_variant_ref(arguments!)))
                    receiver.value(signal)
                }, Unmanaged.passRetained(receiver).toOpaque(),
                { unsafe Unmanaged<Receiver>.fromOpaque($0!).release() })
        }
        return Subscription(connection: self, end: .signal(id))
    }

    /// Calls `receive` on the GLib thread when the connection is closed, until the returned value dies.
    func subscribeToEnd(_ receive: @escaping @Sendable () -> Void) -> Subscription {
        let receiver: Receiver = Box { _ in receive() }
        let id = unsafe withPointer { connection in
            unsafe latchkey_connection_on_closed(
                connection,
                { _, _, _, data in
                    let receiver = unsafe Unmanaged<Receiver>.fromOpaque(data!).takeUnretainedValue()
                    receiver.value(BusSignal(path: "/", name: "closed", arguments: .tuple([])))
                }, Unmanaged.passRetained(receiver).toOpaque(),
                { data, _ in unsafe Unmanaged<Receiver>.fromOpaque(data!).release() })
        }
        return Subscription(connection: self, end: .handler(UInt(id)))
    }

    fileprivate func unsubscribe(_ end: Subscription.End) {
        unsafe withPointer { connection in
            switch end {
            case .signal(let id): unsafe g_dbus_connection_signal_unsubscribe(connection, id)
            case .handler(let id): unsafe g_signal_handler_disconnect(UnsafeMutableRawPointer(connection), gulong(id))
            }
        }
    }
}

/// A signal as it came over the bus. Its arguments are as the sender made them: check their type.
struct BusSignal: Sendable {
    let path: String
    let name: String
    let arguments: Variant
}

/// A subscription to signals, until the value dies.
struct Subscription: ~Copyable, Sendable {
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
