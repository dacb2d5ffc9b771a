internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyCommandLine

/// The signals that come to this process while a program runs beside it, as bytes of a pipe: what it waits for beside
/// the program's output.
enum RelayedSignals {
    // A signal handler can reach nothing but globals. The descriptor is written once, before the handlers are set.
    private nonisolated(unsafe) static var writingEnd: Int32 = -1
    private nonisolated(unsafe) static var takesFromKeyboard = false

    /// Those that are the program's, as if it were in our place.
    static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    /// Programs that are started have the signals' own effects. Returns the pipe's reading end, or `nil` when there are no descriptors left. To be called once.
    ///
    /// - Parameter hasTerminal: whether the program has a terminal of its own. Otherwise it is in our process group, so
    ///   that what is typed reaches it anyway, and Ctrl-Z stops both.
    static func open(hasTerminal: Bool) -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // A handler must never wait, and neither must a look at what has come.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        unsafe (writingEnd, takesFromKeyboard) = (ends[1], hasTerminal)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
            // SI_KERNEL of sigaction(2).
            let isTyped = unsafe information?.pointee.si_code == 0x80 && number != SIGHUP && number != SIGWINCH
            if isTyped, unsafe !RelayedSignals.takesFromKeyboard { return }
            // write is async-signal-safe (signal-safety(7)).
            var byte = UInt8(truncatingIfNeeded: number)
            unsafe write(RelayedSignals.writingEnd, &byte, 1)
        }
        action.sa_flags = SA_RESTART | SA_SIGINFO
        for number in forwarded + [SIGWINCH, SIGCONT] + (hasTerminal ? [SIGTSTP] : []) {
            if !SignalEffect.isIgnored(number) { unsafe sigaction(number, &action, nil) }
        }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        return ends[0]
    }

    /// What has come so far.
    static func take(_ readingEnd: Int32) -> [Int32] {
        var numbers = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(readingEnd, &numbers, numbers.count)
        return numbers.prefix(max(0, count)).map { Int32($0) }
    }

    /// Stops this process and all of its job, as Ctrl-Z would, and returns when it is continued. Where nobody could
    /// continue it, the kernel stops nothing.
    static func stopJob() {
        sendToJob(SIGTSTP)
        var former = sigaction()
        unsafe sigaction(SIGTSTP, nil, &former)
        // Any thread of ours might have taken the job's signal, a moment later: this thread takes one of its own.
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        unsafe sigaction(SIGTSTP, &former, nil)
    }

    /// Sends a signal to all of this job but this process.
    static func sendToJob(_ number: Int32) {
        var former = sigaction()
        unsafe sigaction(number, nil, &former)
        signal(number, SIG_IGN)
        kill(0, number)
        unsafe sigaction(number, &former, nil)
    }
}
