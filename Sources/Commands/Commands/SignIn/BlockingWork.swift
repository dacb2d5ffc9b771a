internal import LatchkeySystem

/// Runs work that blocks on a thread of its own, so that the tasks' few threads stay free.
enum BlockingWork {
    static func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            do throws(SystemErrorNumber) {
                try SystemThread.detach {
                    body()
                    done.resume()
                }
            } catch {
                // No thread is to be had: better here than not at all.
                body()
                done.resume()
            }
        }
    }
}
