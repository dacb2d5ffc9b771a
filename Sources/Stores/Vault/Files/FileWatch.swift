internal import Glibc
internal import LatchkeySystem
internal import Synchronization

/// Calls back on a thread of its own when a file is written to, by whomever (inotify(7)).
final class FileWatch: Sendable {
    private let follower: Follower

    /// Returns `nil` when the system gives no watch or no thread.
    init?(path: String, _ changed: @escaping @Sendable () -> Void) {
        guard let follower = Follower(path: path, changed), follower.start() else { return nil }
        self.follower = follower
    }

    deinit {
        follower.stop()
    }

    /// The thread's work; it exists as long as the thread.
    private final class Follower: Sendable {
        private let descriptor: Int32
        private let watch: Int32
        private let isOpen = Mutex(true)
        private let changed: @Sendable () -> Void

        init?(path: String, _ changed: @escaping @Sendable () -> Void) {
            let inCloseOnExec: Int32 = 0x80000
            let descriptor = inotify_init1(inCloseOnExec)
            let watch = unsafe descriptor < 0 ? -1 : inotify_add_watch(descriptor, path, UInt32(IN_MODIFY))
            guard watch >= 0 else {
                if descriptor >= 0 { close(descriptor) }
                return nil
            }
            self.descriptor = descriptor
            self.watch = watch
            self.changed = changed
        }

        func start() -> Bool {
            if failure(SystemErrorNumber.self, of: try SystemThread.detach { self.follow() }) == nil { return true }
            end()
            return false
        }

        /// Taking the watch away is itself an event, which the thread ends with.
        func stop() {
            isOpen.withLock { isOpen in
                if isOpen { inotify_rm_watch(descriptor, watch) }
            }
        }

        private func end() {
            isOpen.withLock { isOpen in
                close(descriptor)
                isOpen = false
            }
        }

        private func follow() {
            var events = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe read(descriptor, &events, events.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0, !Self.tellOfTheEnd(events.prefix(count)) else { return end() }
                changed()
            }
        }

        /// Whether one of the events (struct inotify_event) says that there will be no more.
        private static func tellOfTheEnd(_ events: ArraySlice<UInt8>) -> Bool {
            var rest = events
            while rest.count >= 16 {
                func number(at offset: Int) -> UInt32 {
                    (0..<4).reduce(0) { $0 | UInt32(rest[rest.startIndex + offset + $1]) << UInt32($1 * 8) }
                }
                if number(at: 4) & UInt32(IN_IGNORED) != 0 { return true }
                rest = rest.dropFirst(16 + Int(number(at: 12)))
            }
            return false
        }
    }
}
