internal import LatchkeyCredentials
internal import Synchronization

/// Ends calls early, from any thread, once.
final class Trigger: Sendable {
    let cancellable: Cancellable

    private struct State {
        var isPulled = false
        var next = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }
    private let state = Mutex(State())

    init(_ context: MainContext) {
        cancellable = Cancellable(context)
    }

    func pull() {
        let handlers = state.withLock { state in
            state.isPulled = true
            defer { state.handlers = [:] }
            return state.handlers.values.map { $0 }
        }
        for handler in handlers { handler() }
        cancellable.cancel()
    }

    /// Calls `handler` when the trigger is pulled, or now if it was; returns a number for `forget`.
    func onPull(_ handler: @escaping @Sendable () -> Void) -> Int {
        let number: Int? = state.withLock { state in
            if state.isPulled { return nil }
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        if number == nil { handler() }
        return number ?? 0
    }

    func forget(_ number: Int) {
        state.withLock { _ = $0.handlers.removeValue(forKey: number) }
    }
}

/// What ends one operation of a store early: its deadline or the cancellation of its task.
final class Interruption: Sendable {
    let trigger: Trigger
    let deadline: Deadline
    private let context: MainContext
    private let timer: Timer

    /// How long a change that was sent already is waited for after its task was cancelled: the service is doing it,
    /// and the reply says whether it is done.
    private static let grace = Duration.milliseconds(500)

    /// What begins each operation, so the libraries that it needs are loaded here.
    ///
    /// Throws `unavailable` on a machine that hasn't got them.
    @GLibThread convenience init(_ deadline: Deadline) throws(StoreError) {
        self.init(deadline, try GLibThread.context())
    }

    /// Of another deadline than the operation that it is a part of.
    convenience init(_ deadline: Deadline, within operation: Interruption) {
        self.init(deadline, operation.context)
    }

    private init(_ deadline: Deadline, _ context: MainContext) {
        trigger = Trigger(context)
        self.deadline = deadline
        self.context = context
        timer = context.timer(after: deadline.remaining, trigger)
    }

    /// Throws when the deadline has passed or the task was cancelled.
    func check() throws(KeyringFailure) {
        if Task.isCancelled || deadline.hasPassed { throw .interrupted }
    }

    /// Waits for a reply; cancelling the task ends the call.
    ///
    /// On the GLib thread by name: the closure below would not inherit a caller's actor, and each reply would take
    /// a detour through another thread.
    @GLibThread func wait<Value>(_ pending: Pending<Value>) async -> Value {
        await withTaskCancellationHandler {
            await pending.value()
        } onCancel: { [trigger] in
            trigger.pull()
        }
    }

    /// Waits for the reply of a call that changes the store: longer than the task wants, but not past the
    /// deadline.
    @GLibThread func waitForChange<Value>(_ pending: Pending<Value>) async -> Value {
        let latest = Mutex<Timer?>(nil)
        return await withTaskCancellationHandler {
            await pending.value()
        } onCancel: { [trigger, context] in
            let timer = context.timer(after: Self.grace, trigger)
            var slot: Timer? = consume timer
            latest.withLock { $0 = slot.take() }
        }
    }
}
