internal import Glibc
internal import LatchkeyCredentials
internal import Synchronization

/// How long a blocking piece of work may wait: until a deadline, or until its task is cancelled.
final class Cancellation: Sendable {
    let deadline: Deadline
    private let state = Atomic<State>(.open)

    private enum State: UInt8, AtomicRepresentable {
        case open, ended
        /// Past the point where the work could be given up.
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

    /// From here on the work is done, whatever happens to the task that asked for it. Throws when that has ended.
    func commit() throws(StoreError) {
        try check()
        let before = state.compareExchange(
            expected: .open, desired: .committed, ordering: .sequentiallyConsistent
        ).original
        if before == .ended { throw .cancelled }
    }

    /// Throws `cancelled` or `timedOut` when there is no cancellation left.
    func check() throws(StoreError) {
        if state.load(ordering: .sequentiallyConsistent) == .ended { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
    }

    /// Runs `attempt` until it does not throw `busy`, sleeping in between: 0.2 ms at first, `longest` nanoseconds at
    /// most, a random part of it taken off so that several waiting processes don't walk in step.
    func retry<Result: ~Copyable>(
        pausingAtMost longest: Int = 10_000_000, _ attempt: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var pause = 200_000
        while true {
            do throws(StoreError) {
                return try attempt()
            } catch  where error.code == .busy {
                if state.load(ordering: .sequentiallyConsistent) == .ended { throw .cancelled }
                if deadline.hasPassed { throw .vaultBusy }
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
