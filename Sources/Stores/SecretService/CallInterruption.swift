internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySystem
internal import Synchronization

/// The early end of a store's operation: its deadline or the cancellation of its task.
final class CallInterruption: Sendable {
    let trigger: Trigger
    let deadline: Deadline
    private let context: MainContext
    private let timer: Timer

    /// How long a change that was sent already is waited for after its task was cancelled: the service is doing it,
    /// and the reply says whether it is done.
    private static let grace = Duration.milliseconds(500)

    /// Begins an operation, and therefore loads the libraries.
    ///
    /// Throws `unavailable` on a machine without them.
    @GLibThread convenience init(_ deadline: Deadline) throws(StoreError) {
        self.init(deadline, try mapError(StoreError.init, of: GLibThread.context(withLibsecret: true)))
    }

    /// Of another deadline than the operation that it is a part of.
    convenience init(_ deadline: Deadline, within operation: CallInterruption) {
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

/// Keeps the calls that are under way below the number of pending replies that a bus allows a connection: 128,
/// where its configuration says nothing else (dbus-daemon(1), `max_replies_per_connection`).
final class CallWindow: Sendable {
    private static let width = 100

    private struct State {
        var underWay = 0
        var next = 0
        var first = 0
        var waiting: [Int: @Sendable () -> Void] = [:]
    }
    private let state = Mutex(State())

    /// Sends now or in turn, on the thread for GLib, or at once when the trigger is pulled: a cancelled call ends
    /// without being sent. The end of each call needs a `leave()`. Call both on the thread for GLib.
    func enter(_ trigger: Trigger, _ send: @escaping @Sendable () -> Void) {
        let place: Int? = state.withLock { state in
            guard state.underWay >= Self.width else {
                state.underWay += 1
                return nil
            }
            state.waiting[state.next] = send
            state.next += 1
            return state.next - 1
        }
        guard let place else { return send() }
        _ = trigger.onPull { [self] in
            // Triggers are pulled on any thread, and calls complete on the one that makes them.
            Task { @GLibThread in sendNow(place) }
        }
    }

    private func sendNow(_ place: Int) {
        let send = state.withLock { state in
            let send = state.waiting.removeValue(forKey: place)
            if send != nil { state.underWay += 1 }
            return send
        }
        send?()
    }

    func leave() {
        let send: (@Sendable () -> Void)? = state.withLock { state in
            state.underWay -= 1
            while state.first < state.next && state.underWay < Self.width {
                let send = state.waiting.removeValue(forKey: state.first)
                state.first += 1
                guard let send else { continue }
                state.underWay += 1
                return send
            }
            return nil
        }
        send?()
    }
}
