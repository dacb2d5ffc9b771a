internal import Glibc
internal import LatchkeySystem
internal import Synchronization
internal import LatchkeyProcess

/// Turns the first signal that asks a process to end into a request to stop, so that its work can end in order.
///
/// A second Ctrl-C ends the process at once. SIGTERM and SIGHUP are ignored after the first signal, because timeout(1)
/// and shells send them twice.
package enum Interruption {
    static let signals = [SIGINT, SIGTERM, SIGHUP]

    // A signal handler can reach nothing but globals. The descriptor is written once, before the handlers are set.
    private nonisolated(unsafe) static var writingEnd: Int32 = -1
    private nonisolated(unsafe) static var readingEnd: Int32 = -1
    private static let request = Mutex<(@Sendable () -> Void)?>(nil)
    private static let first = Mutex<Int32?>(nil)

    /// The exit status of an interrupted process (128 plus the signal's number), or `nil` without a signal.
    package static var exitStatus: ExitStatus? {
        first.withLock { $0 }.flatMap { ExitStatus(rawValue: 128 + $0) }
    }

    /// Calls `body` on a thread of its own at the first SIGINT, SIGTERM or SIGHUP that the process's starter doesn't
    /// have it ignore, as nohup(1) does. To be called once.
    ///
    /// Programs that are started later get the signals' ordinary effects: a handler doesn't outlive exec(2).
    package static func onFirst(_ body: @escaping @Sendable () -> Void) {
        guard let ends = try? DescriptorBytes.pipe() else { return }
        // A handler must never wait. If the pipe is full, an earlier signal is in it.
        _ = fcntl(ends.writing, F_SETFL, O_NONBLOCK)
        unsafe (readingEnd, writingEnd) = ends
        request.withLock { $0 = body }

        let reading: ()? = try? SystemThread.detach {
            var byte: UInt8 = 0
            while unsafe read(readingEnd, &byte, 1) < 0 && errno == EINTR {}
            first.withLock { $0 = Int32(byte) }
            request.withLock { $0.take() }?()
        }
        guard reading != nil else { return }

        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            // write and signal are async-signal-safe (signal-safety(7)).
            var byte = UInt8(truncatingIfNeeded: number)
            unsafe write(Interruption.writingEnd, &byte, 1)
            if number == SIGINT { signal(number, SIG_DFL) }
        }
        action.sa_flags = SA_RESTART
        for number in signals {
            if !SignalEffect.isIgnored(number) { unsafe sigaction(number, &action, nil) }
        }
    }
}
