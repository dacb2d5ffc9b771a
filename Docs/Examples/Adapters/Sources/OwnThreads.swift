import Dispatch
import Synchronization

/// Runs tasks outside of Swift's pool of threads, so that a thread of the pool may wait for them.
final class OwnThreads: TaskExecutor {
    private static let shared = OwnThreads()
    private let queue = DispatchQueue(label: "adapters", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let done = DispatchSemaphore(value: 0)
        let value = Mutex<Result<Value, any Error>?>(nil)
    }

    static func wait<Value: Sendable>(
        for work: @escaping @Sendable () async throws -> Value
    ) -> Result<Value, any Error> {
        let outcome = Outcome<Value>()
        Task(executorPreference: shared) {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            outcome.value.withLock { $0 = result }
            outcome.done.signal()
        }
        outcome.done.wait()
        return outcome.value.withLock { $0 ?? .failure(CancellationError()) }
    }
}
