#if Desktop
    internal import Glibc
    internal import Synchronization

    /// The one thread on which GLib and libsecret run, as a global actor.
    ///
    /// GLib answers asynchronous calls and delivers signals in the main context of the thread that asked, so all of it
    /// stays on this thread, which sleeps in GLib's poll. Nothing here blocks: a hung prompt holds up nobody else.
    @globalActor actor GLibThread {
        static let shared = GLibThread()

        private nonisolated let executor = GLibExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
        static var context: MainContext { shared.executor.context }
    }

    /// Runs Swift's jobs between the iterations of a GLib main context.
    private final class GLibExecutor: SerialExecutor {
        let context = MainContext()
        private let jobs = Mutex<[UnownedJob]>([])
        /// The thread itself, as a number; 0 until it runs.
        private let thread = Atomic<UInt>(0)

        init() {
            var thread = pthread_t()
            let argument = unsafe Unmanaged.passRetained(self).toOpaque()
            let status = unsafe pthread_create(
                &thread, nil,
                { argument in
                    let executor = unsafe Unmanaged<GLibExecutor>.fromOpaque(argument!).takeRetainedValue()
                    executor.run()
                }, argument)
            precondition(status == 0, "the thread for GLib could not be started")
            pthread_detach(thread)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
            // The thread looks for jobs before it sleeps, so it needs no waking by what runs on it.
            if thread.load(ordering: .relaxed) != UInt(pthread_self()) { context.wakeUp() }
        }

        private func run() -> Never {
            // Signals are for the main thread; GLib's own threads inherit this.
            var all = sigset_t()
            unsafe sigfillset(&all)
            unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
            context.becomeDefaultOfThread()
            thread.store(UInt(pthread_self()), ordering: .relaxed)
            var rounds = 0
            while true {
                let batch = jobs.withLock { jobs in
                    defer { jobs.removeAll() }
                    return jobs
                }
                for job in batch { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
                // Jobs that follow from jobs come first, but GLib is looked after now and then all the same. A job from
                // another thread that comes after the batch was taken wakes this up again.
                rounds = batch.isEmpty ? 0 : rounds + 1
                if rounds % 16 == 0 { context.iterate(waiting: batch.isEmpty) }
            }
        }
    }
#endif
