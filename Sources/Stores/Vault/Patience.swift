internal import Credentials
internal import Glibc
internal import Synchronization

/// How long a blocking piece of work may wait: until a deadline, or until its task is cancelled.
final class Patience: Sendable {
    let deadline: Deadline
    private let cancelled = Atomic<Bool>(false)

    init(_ deadline: Deadline) {
        self.deadline = deadline
    }

    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Throws `cancelled` or `timedOut` when there is no patience left.
    func check() throws(StoreError) {
        if cancelled.load(ordering: .relaxed) { throw .cancelled }
        if deadline.hasPassed { throw .timedOut }
    }

    /// Runs `attempt` until it does not throw `busy`, sleeping in between: 0.2 ms at first, 10 ms at most, a random part
    /// of it taken off so that several waiting processes don't walk in step.
    func retry<Result>(_ attempt: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        var pause = 200_000
        while true {
            do throws(StoreError) {
                return try attempt()
            } catch  where error.code == .busy {
                if cancelled.load(ordering: .relaxed) { throw .cancelled }
                if deadline.hasPassed { throw .vaultBusy }
                var time = timespec(tv_sec: 0, tv_nsec: Int.random(in: pause / 2...pause))
                unsafe nanosleep(&time, nil)
                pause = min(pause * 2, 10_000_000)
            }
        }
    }
}
