internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// A thread of a store's own, for what blocks: commits, waits for other processes, Argon2.
///
/// Tasks wait for it without holding a thread of theirs. It starts with the first piece of work and ends with the
/// store.
final class WorkThread: Sendable {
    private let queue = Queue()
    private let started = Mutex(false)

    deinit {
        queue.stop()
    }

    /// Runs `body` on the thread, after the jobs that were submitted before.
    ///
    /// If the deadline passes or the task is cancelled, a job that hasn't begun is dropped. A job that has begun finds
    /// out through its `Cancellation`. The caller waits for the job's outcome, so that a refused save never happened.
    /// With `leavesBehind` the caller continues at once instead, unless the job has called `Cancellation.commit()`.
    func run<Result: Sendable>(
        until deadline: Deadline, leavesBehind: Bool = false,
        _ body: @escaping @Sendable (Cancellation) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        if Task.isCancelled { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
        try start()
        let cancellation = Cancellation(deadline)
        let outcome = Pending<Swift.Result<Result, StoreError>>()
        let job = Job(leavesBehind: leavesBehind, cancellation: cancellation) {
            outcome.complete(Swift.Result { () throws(StoreError) in try body(cancellation) })
        } drop: {
            outcome.complete(.failure($0))
        }
        let result = await withTaskCancellationHandler {
            let beginsAtOnce = queue.add(job)
            // A running job checks the clock itself. A timer would cost as much as half a save.
            if leavesBehind || !beginsAtOnce { job.startTimer(deadline) }
            return await outcome.value()
        } onCancel: {
            job.giveUp(.cancelled)
        }
        job.stopTimer()
        return try result.get()
    }

    private func start() throws(StoreError) {
        try started.withLock { (started) throws(StoreError) in
            if started { return }
            try mapError(
                { (error: SystemErrorNumber) in
                    StoreError(
                        .unavailable, "the system gave no thread",
                        hint: "raise the number of processes (ulimit -u); in a sandbox, allow clone3(2)",
                        platform: .errno(error.number))
                }, of: SystemThread.detach { [queue] in queue.work() })
            started = true
        }
    }

    // MARK: - Parts

    /// A piece of work: waiting, running, or done with.
    private final class Job: Sendable {
        private enum Stage { case waiting, running, done }
        private let stage = Mutex(Stage.waiting)
        private let leavesBehind: Bool
        private let cancellation: Cancellation
        private let body: @Sendable () -> Void
        private let drop: @Sendable (StoreError) -> Void
        private let timer = Mutex<Task<Void, Never>?>(nil)

        init(
            leavesBehind: Bool, cancellation: Cancellation, body: @escaping @Sendable () -> Void,
            drop: @escaping @Sendable (StoreError) -> Void
        ) {
            self.leavesBehind = leavesBehind
            self.cancellation = cancellation
            self.body = body
            self.drop = drop
        }

        func run() {
            let begins = stage.withLock { stage in
                guard stage == .waiting else { return false }
                stage = .running
                return true
            }
            if begins { body() }
        }

        func startTimer(_ deadline: Deadline) {
            timer.withLock { timer in
                timer = Task {
                    if (try? await Task.sleep(until: deadline.instant, clock: .continuous)) != nil {
                        self.giveUp(.timedOut)
                    }
                }
            }
        }

        /// Its task holds the job until then.
        func stopTimer() {
            timer.withLock { $0.take()?.cancel() }
        }

        func giveUp(_ error: StoreError) {
            let drops = stage.withLock { stage in
                // The job itself detects a passed deadline, which must not be mistaken for a cancellation.
                let ended = error.code == .cancelled || leavesBehind ? cancellation.end() : false
                guard stage == .waiting || (leavesBehind && ended) else { return false }
                if stage == .waiting { stage = .done }
                return true
            }
            if drops { drop(error) }
        }
    }

    /// The jobs of the thread; the queue outlives the store until its last job is done.
    @safe private final class Queue: @unchecked Sendable {
        // Sendable: a lock protects the jobs, and a semaphore may be used by any thread.
        private let jobs = Mutex((waiting: [Job](), isRunning: false, isStopped: false))
        private let signal = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init() {
            let status = unsafe sem_init(signal, 0, 0)
            precondition(status == 0, "the system gave no semaphore")
        }

        deinit {
            unsafe sem_destroy(signal)
            unsafe signal.deallocate()
        }

        /// Returns whether nothing is before it.
        func add(_ job: Job) -> Bool {
            let isFirst = jobs.withLock { jobs in
                jobs.waiting.append(job)
                return jobs.waiting.count == 1 && !jobs.isRunning
            }
            unsafe sem_post(signal)
            return isFirst
        }

        func stop() {
            jobs.withLock { $0.isStopped = true }
            unsafe sem_post(signal)
        }

        func work() {
            while true {
                while unsafe sem_wait(signal) != 0 {}
                let next = jobs.withLock { jobs -> (job: Job?, ends: Bool) in
                    let job = jobs.waiting.isEmpty ? nil : jobs.waiting.removeFirst()
                    jobs.isRunning = job != nil
                    return (job, job == nil && jobs.isStopped)
                }
                next.job?.run()
                jobs.withLock { $0.isRunning = false }
                if next.ends { return }
            }
        }
    }
}

/// How long a blocking piece of work may wait: until a deadline, or until its task is cancelled.
final class Cancellation: Sendable {
    let deadline: Deadline
    private let state = Atomic<State>(.open)

    private enum State: UInt8, AtomicRepresentable {
        case open, ended
        /// The job can no longer be abandoned.
        case committed
    }

    init(_ deadline: Deadline) {
        self.deadline = deadline
    }

    /// Ends the cancellation; false when the work has committed itself already and will be done.
    @discardableResult
    func end() -> Bool {
        state.compareExchange(expected: .open, desired: .ended, ordering: .sequentiallyConsistent).original
            != .committed
    }

    /// Commits the job: from here on it completes, even if its task is cancelled. Throws if the task has ended.
    func commit() throws(StoreError) {
        try check()
        let before = state.compareExchange(
            expected: .open, desired: .committed, ordering: .sequentiallyConsistent
        ).original
        if before == .ended { throw .cancelled }
    }

    /// Throws `cancelled` or `timedOut` if the cancellation has ended.
    func check() throws(StoreError) {
        if state.load(ordering: .sequentiallyConsistent) == .ended { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
    }

    /// Runs `attempt` until it doesn't throw `busy`. The pauses grow from 0.2 ms to `longest` nanoseconds, with a
    /// random part subtracted, so that waiting processes don't run in step.
    func retry<Result: ~Copyable>(
        pausingAtMost longest: Int = 10_000_000, _ attempt: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var pause = 200_000
        var wait = LongWait()
        defer { wait.end() }
        while true {
            do throws(StoreError) {
                return try attempt()
            } catch  where error.code == .busy {
                if state.load(ordering: .sequentiallyConsistent) == .ended { throw .cancelled }
                if deadline.hasPassed { throw .vaultBusy }
                wait.goesOn("waiting for another process that uses the vault")
                var time = timespec(tv_sec: 0, tv_nsec: Int.random(in: pause / 2...pause))
                unsafe nanosleep(&time, nil)
                pause = min(pause * 2, longest)
            }
        }
    }

    /// Leaves a gap of 10 ms between two transactions of one piece of work: writers of other processes poll, and would
    /// never find the vault free without it.
    func letOthersIn() throws(StoreError) {
        var time = timespec(tv_sec: 0, tv_nsec: 10_000_000)
        unsafe nanosleep(&time, nil)
        try check()
    }
}
