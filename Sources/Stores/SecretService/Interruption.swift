internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySystem
internal import Synchronization

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
        self.init(deadline, try mapError(StoreError.init, of: GLibThread.context(withLibsecret: true)))
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
