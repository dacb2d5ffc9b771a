#if SwiftLog
    internal import Glibc
    internal import Synchronization

    /// Whether this thread is handing a line over already.
    ///
    /// A metadata provider that logs, a description that does, a sink that leads back into swift-log, or a signal's
    /// handler on the same thread would begin again in the middle: without end, or at a lock that the thread holds.
    /// Their lines are dropped and counted. A task-local value would be inherited by tasks that they start, and silence
    /// these too.
    enum HandingOver {
        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            unsafe pthread_key_create(&key, nil)
            return key
        }()

        private static let dropped = Atomic(0)

        /// Runs `body`, unless the thread is inside of another call.
        static func once(_ body: () -> Void) {
            guard unsafe pthread_getspecific(key) == nil else {
                dropped.add(1, ordering: .relaxed)
                return
            }
            unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
            body()
            pthread_setspecific(key, nil)
        }

        /// How many lines were dropped since the last call.
        static func takeDropped() -> Int {
            dropped.load(ordering: .relaxed) == 0 ? 0 : dropped.exchange(0, ordering: .relaxed)
        }
    }
#endif
