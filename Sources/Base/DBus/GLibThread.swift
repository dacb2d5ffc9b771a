internal import CLatchkeyGLib
internal import Glibc
package import LatchkeyLog
internal import Synchronization

/// The one thread on which GLib and libsecret run, as a global actor.
///
/// GLib completes asynchronous calls and delivers signals in the main context of the thread that made them. So everything
/// stays on this thread, which sleeps in GLib's poll. Nothing here blocks: a hung prompt doesn't delay other users. GLib
/// is loaded when it is first needed; until then the thread sleeps without GLib.
@globalActor package actor GLibThread {
    package static let shared = GLibThread()

    fileprivate nonisolated let executor = GLibExecutor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Returns the context in which the thread sleeps from then on. Loads GLib, and libsecret if needed.
    ///
    /// After a failure the next call tries again.
    @GLibThread package static func context(withLibsecret: Bool = false) throws(LibraryFailure) -> MainContext {
        if withLibsecret { try LibraryFailure.check(latchkey_libsecret_load()) }
        return try shared.executor.context()
    }

    /// Runs `command` and all work of the GLib thread on the calling thread. Ends the process afterwards.
    ///
    /// This saves a sequential program a thread, and a change of threads for each step of a call. Call it before the first
    /// use of a bus. If the command blocks, the bus and all deadlines wait.
    package static func run(_ command: @escaping @Sendable () async -> Never) -> Never {
        GLibExecutor.isHosted.store(true, ordering: .relaxed)
        let executor = shared.executor
        Task(executorPreference: executor) { await command() }
        executor.run()
    }
}

/// Runs Swift's jobs, and between them the iterations of a GLib main context once there is one.
private final class GLibExecutor: SerialExecutor, TaskExecutor {
    /// Whether a thread that is there already will run this.
    static let isHosted = Atomic(false)

    private struct State {
        var jobs: [UnownedJob] = []
        var context: MainContext?
    }
    private let state = Mutex(State())
    /// The thread itself, as a number; 0 until it runs.
    private let thread = Atomic<UInt>(0)
    private let doorbell = Doorbell()

    init() {
        if !Self.isHosted.load(ordering: .relaxed) { startThread() }
    }

    private func startThread() {
        if failure(SystemErrorNumber.self, of: try SystemThread.detach { self.run() }) != nil {
            preconditionFailure("the thread for GLib could not be started")
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let context = state.withLock { state in
            state.jobs.append(job)
            return state.context
        }
        // The thread looks for jobs before it sleeps, so it needs no waking by what runs on it.
        guard thread.load(ordering: .relaxed) != UInt(pthread_self()) else { return }
        // A thread without a context makes one in a job, and looks for jobs afterwards.
        if let context { context.wakeUp() } else { doorbell.ring() }
    }

    /// The thread's context, which it makes at the first call. Only on the thread itself.
    func context() throws(LibraryFailure) -> MainContext {
        if let context = state.withLock({ $0.context }) { return context }
        let context = try MainContext()
        context.becomeDefaultOfThread()
        state.withLock { $0.context = context }
        return context
    }

    private func run(_ job: UnownedJob) {
        if Self.isHosted.load(ordering: .relaxed) {
            // The command's own steps are isolated to this thread as well, so that it calls the store without a
            // hop.
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        } else {
            unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    func run() -> Never {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        var rounds = 0
        while true {
            let (batch, context) = state.withLock { state in
                defer { state.jobs.removeAll() }
                return (state.jobs, state.context)
            }
            for job in batch { run(job) }
            guard let context else {
                if batch.isEmpty { doorbell.wait() }
                continue
            }
            // Jobs that follow from jobs come first, but GLib gets its turn now and then. A job from another thread that
            // arrives after the batch wakes this thread again.
            rounds = batch.isEmpty ? 0 : rounds + 1
            if rounds % 16 == 0 { context.iterate(waiting: batch.isEmpty) }
        }
    }
}

/// The sleep of a thread before GLib is loaded.
@safe private final class Doorbell: @unchecked Sendable {
    // Sendable: several threads may use a semaphore, and the pointer never changes.
    /// Allocated, because a semaphore must not move. It lasts as long as the process.
    private let rings = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        precondition(unsafe sem_init(rings, 0, 0) == 0, "a semaphore could not be made")
    }

    func ring() {
        unsafe sem_post(rings)
    }

    /// Returns when it was rung since the last time.
    func wait() {
        // A signal's handler may end the wait early.
        while unsafe sem_wait(rings) != 0 {}
    }
}
