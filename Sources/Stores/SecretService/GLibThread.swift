#if Desktop
    internal import Glibc
    internal import Synchronization

    /// The one thread on which GLib and libsecret run, as a global actor.
    ///
    /// GLib answers asynchronous calls and delivers signals in the main context of the thread that asked, so all of it
    /// stays on this thread, which sleeps in GLib's poll. Nothing here blocks: a hung prompt holds up nobody else.
    @globalActor actor GLibThread {
        static let shared = GLibThread()

        fileprivate nonisolated let executor = GLibExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
        static var context: MainContext { shared.executor.context }
    }

    /// The thread that the keyring is used on.
    public enum SecretServiceThread {
        /// Runs `command` on the calling thread, and the keyring's store with it. It ends the process.
        ///
        /// A program that does one thing after another is spared a thread, and a change of threads for each step of an
        /// answer. Call it before the first use of a `SecretServiceStore`. What blocks in the command then holds up the
        /// store, deadlines included.
        public static func run(_ command: @escaping @Sendable () async -> Never) -> Never {
            GLibExecutor.isHosted.store(true, ordering: .relaxed)
            let executor = GLibThread.shared.executor
            Task(executorPreference: executor) { await command() }
            executor.run()
        }
    }

    /// Runs Swift's jobs between the iterations of a GLib main context.
    private final class GLibExecutor: SerialExecutor, TaskExecutor {
        /// Whether a thread that is there already will run this.
        static let isHosted = Atomic(false)

        let context = MainContext()
        private let jobs = Mutex<[UnownedJob]>([])
        /// The thread itself, as a number; 0 until it runs.
        private let thread = Atomic<UInt>(0)

        init() {
            if !Self.isHosted.load(ordering: .relaxed) { startThread() }
        }

        private func startThread() {
            var thread = pthread_t()
            let argument = unsafe Unmanaged.passRetained(self).toOpaque()
            let status = withSignalsBlocked {
                unsafe pthread_create(
                    &thread, nil,
                    { argument in
                        let executor = unsafe Unmanaged<GLibExecutor>.fromOpaque(argument!).takeRetainedValue()
                        executor.run()
                    }, argument)
            }
            precondition(status == 0, "the thread for GLib could not be started")
            pthread_detach(thread)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
            // The thread looks for jobs before it sleeps, so it needs no waking by what runs on it.
            if thread.load(ordering: .relaxed) != UInt(pthread_self()) { context.wakeUp() }
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
            context.becomeDefaultOfThread()
            thread.store(UInt(pthread_self()), ordering: .relaxed)
            var rounds = 0
            while true {
                let batch = jobs.withLock { jobs in
                    defer { jobs.removeAll() }
                    return jobs
                }
                for job in batch { run(job) }
                // Jobs that follow from jobs come first, but GLib is looked after now and then all the same. A job from
                // another thread that comes after the batch was taken wakes this up again.
                rounds = batch.isEmpty ? 0 : rounds + 1
                if rounds % 16 == 0 { context.iterate(waiting: batch.isEmpty) }
            }
        }
    }

    /// Runs a call that may start threads: signals are for the thread that the program waits on.
    func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }
#endif
