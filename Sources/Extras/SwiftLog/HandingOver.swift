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

        /// Lines that were dropped when the one in whose middle they came was finished already.
        private static let untold = Atomic(0)

        /// One more than how many lines were dropped in the middle of this thread's; 0 outside.
        private static var count: Int {
            get { unsafe Int(bitPattern: pthread_getspecific(key)) }
            set { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
        }

        /// Runs `body`, unless the thread is inside of another call.
        static func once(_ body: () -> Void) {
            guard count == 0 else {
                count += 1
                return
            }
            count = 1
            body()
            if count > 1 { untold.add(count - 1, ordering: .relaxed) }
            count = 0
        }

        /// How many lines were dropped, in the middle of this one or untold until now.
        static func takeDropped() -> Int {
            let earlier = untold.load(ordering: .relaxed) == 0 ? 0 : untold.exchange(0, ordering: .relaxed)
            defer { count = 1 }
            return count - 1 + earlier
        }
    }
#endif
