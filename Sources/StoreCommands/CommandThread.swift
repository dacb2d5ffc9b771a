#if !Desktop
    internal import Glibc
    internal import Synchronization

    /// Runs a command on the thread that waits for its end, as `SecretServiceThread` does with GLib.
    ///
    /// A store's command does one thing after another. Without this, each step that follows a wait goes through the
    /// pool of threads that Swift starts for concurrent work, which costs a short-lived process more than its work
    /// does.
    ///
    /// What blocks here blocks the whole command, so commands that wait for a person and a server at once can't use it.
    @safe final class CommandThread: TaskExecutor, @unchecked Sendable {
        // Sendable: semaphores are made for several threads, and the pointer never changes.
        private let jobs = Mutex<[UnownedJob]>([])
        /// Counts the jobs. Allocated, because a semaphore may not move; it lives as long as the process.
        private let waiting = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        private init() {
            precondition(unsafe sem_init(waiting, 0, 0) == 0, "a semaphore could not be made")
        }

        /// Runs `command` on this thread. It ends the process.
        static func run(_ command: @escaping @Sendable () async -> Never) -> Never {
            let thread = CommandThread()
            Task(executorPreference: thread) { await command() }
            while true { thread.runNext() }
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
            unsafe sem_post(waiting)
        }

        private func runNext() {
            // A signal's handler may end the wait early.
            while unsafe sem_wait(waiting) != 0 {}
            let job = jobs.withLock { $0.removeFirst() }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
#endif
