internal import Glibc
internal import Synchronization

/// Turns Ctrl-C into a request to stop: once, so that work can be put in order. The second Ctrl-C ends the process.
public enum Interruption {
    // A signal handler can reach nothing but globals. The descriptor is written once, before the handler is set.
    private nonisolated(unsafe) static var writingEnd: Int32 = -1
    private nonisolated(unsafe) static var readingEnd: Int32 = -1
    private static let request = Mutex<(@Sendable () -> Void)?>(nil)

    /// Calls `body` on a thread of its own when the process is interrupted (SIGINT). To be called once.
    ///
    /// Programs that are started later get the signal's ordinary effect: a handler doesn't outlive exec(2).
    public static func onFirst(_ body: @escaping @Sendable () -> Void) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        unsafe (readingEnd, writingEnd) = (ends[0], ends[1])
        request.withLock { $0 = body }

        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { _ in
                var byte: UInt8 = 0
                while unsafe read(Interruption.readingEnd, &byte, 1) < 0 && errno == EINTR {}
                Interruption.request.withLock { $0.take() }?()
                return nil
            }, nil)
        guard status == 0 else { return }
        pthread_detach(thread)

        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            // write and signal are async-signal-safe (signal-safety(7)).
            var byte: UInt8 = 1
            unsafe write(Interruption.writingEnd, &byte, 1)
            signal(number, SIG_DFL)
        }
        action.sa_flags = SA_RESTART
        unsafe sigaction(SIGINT, &action, nil)
    }
}
