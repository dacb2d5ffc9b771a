internal import CLatchkeyGLib
internal import LatchkeyLog
package import LatchkeySystem
internal import Synchronization

// GLib's main context, its cancellables and references, and the beginning and end of asynchronous calls. Callers get
// owned results and don't need C.

// MARK: - Running and waiting

/// A main context of GLib: what a thread must iterate so that asynchronous calls complete.
@safe package struct MainContext: @unchecked Sendable {
    // Sendable: contexts take wake-ups and timers from any thread. It lives as long as the process.
    private let pointer: OpaquePointer

    /// Every call of GLib needs a context (see `Trigger`), so no call is made before the library is loaded.
    init() throws(LibraryFailure) {
        try LibraryFailure.check(latchkey_glib_load())
        unsafe pointer = g_main_context_new()
    }

    /// Makes later calls on this thread complete in this context.
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
    package func timer(after duration: Duration, _ trigger: Trigger) -> Timer {
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
@safe package struct Timer: ~Copyable, @unchecked Sendable {
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

/// Ends calls early (GCancellable), from any thread, once.
package final class Trigger: Sendable {
    private let cancellable: ObjectReference

    private struct State {
        var isPulled = false
        var next = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }
    private let state = Mutex(State())

    /// - Parameter context: any, for its library.
    package init(_ context: MainContext) {
        unsafe cancellable = ObjectReference(adopting: UnsafeMutableRawPointer(g_cancellable_new()))
    }

    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe cancellable.withPointer { unsafe body(OpaquePointer($0)) }
    }

    package func pull() {
        let handlers = state.withLock { state in
            state.isPulled = true
            defer { state.handlers = [:] }
            return state.handlers.values.map { $0 }
        }
        for handler in handlers { handler() }
        unsafe withPointer { unsafe g_cancellable_cancel($0) }
    }

    /// Calls `handler` when the trigger is pulled, or now if it was; returns a number for `forget`.
    package func onPull(_ handler: @escaping @Sendable () -> Void) -> Int {
        let number: Int? = state.withLock { state in
            if state.isPulled { return nil }
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        if number == nil { handler() }
        return number ?? 0
    }

    package func forget(_ number: Int) {
        state.withLock { _ = $0.handlers.removeValue(forKey: number) }
    }

    /// Waits for a reply; cancelling the task pulls the trigger.
    ///
    /// On the GLib thread by name: the closure below would not inherit a caller's actor, and each reply would take
    /// a detour through another thread.
    @GLibThread package func wait<Value>(_ pending: Pending<Value>) async -> Value {
        await withTaskCancellationHandler {
            await pending.value()
        } onCancel: {
            pull()
        }
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

    init(retaining pointer: UnsafeMutableRawPointer) {
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

/// The result of an asynchronous call (GAsyncResult), for the call's own `finish`.
package final class AsyncResult: Sendable {
    private let result: ObjectReference

    fileprivate init(_ result: OpaquePointer) {
        unsafe self.result = ObjectReference(retaining: UnsafeMutableRawPointer(result))
    }

    /// Takes the result apart, and throws what went wrong.
    func finish<Result>(
        _ finish: (OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
    ) throws(BusFault) -> Result {
        try unsafe result.withPointer { (result) throws(BusFault) in
            var error: UnsafeMutablePointer<GError>?
            let value = unsafe finish(OpaquePointer(result), &error)
            if let error = unsafe error { throw unsafe BusFault(adopting: error) }
            return value
        }
    }
}

/// Completes the pending result that was passed as user data.
private let completePending: GAsyncReadyCallback = { _, result, data in
    let pending = unsafe Unmanaged<Pending<AsyncResult>>.fromOpaque(data!).takeRetainedValue()
    unsafe pending.complete(AsyncResult(result!))
}

/// Begins an asynchronous call, on the GLib thread, whose result completes the returned value.
@discardableResult
func begin(
    completing pending: Pending<AsyncResult> = Pending(),
    _ call: (GAsyncReadyCallback, UnsafeMutableRawPointer) -> Void
) -> Pending<AsyncResult> {
    unsafe call(completePending, Unmanaged.passRetained(pending).toOpaque())
    return pending
}
