internal import Glibc

/// Runs work that blocks on a thread of its own, so that the tasks' few threads stay free.
enum BlockingWork {
    private final class Job: Sendable {
        let body: @Sendable () -> Void
        let done: CheckedContinuation<Void, Never>

        init(body: @escaping @Sendable () -> Void, done: CheckedContinuation<Void, Never>) {
            self.body = body
            self.done = done
        }
    }

    static func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            let job = unsafe Unmanaged.passRetained(Job(body: body, done: done)).toOpaque()
            var thread = pthread_t()
            let status = unsafe pthread_create(
                &thread, nil,
                { argument in
                    let job = unsafe Unmanaged<Job>.fromOpaque(argument!).takeRetainedValue()
                    job.body()
                    job.done.resume()
                    return nil
                }, job)
            guard status == 0 else {
                // No thread is to be had: better here than not at all.
                let job = unsafe Unmanaged<Job>.fromOpaque(job).takeRetainedValue()
                job.body()
                job.done.resume()
                return
            }
            pthread_detach(thread)
        }
    }
}
