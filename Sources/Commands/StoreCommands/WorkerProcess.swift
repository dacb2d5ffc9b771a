internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeySystem
internal import LatchkeyTerminal

/// A program that works in this one's place, in a process of its own: whoever kills this one doesn't kill the work.
///
/// A refresh that is cut off between the server's response and the store costs the session. A worker whose starter is
/// gone gets SIGTERM, which waits for the store and ends everything else.
package enum WorkerProcess {
    /// What it is called in its own arguments and in listings of processes; its starter's number follows.
    private static let name = "latchkey-worker "
    private static let forwarded = [SIGINT, SIGTERM, SIGHUP]

    // A signal handler can reach nothing but globals. Written once, before the handlers are set.
    private nonisolated(unsafe) static var process: pid_t = 0

    /// Asks for SIGTERM at the starter's end, in a worker; does nothing elsewhere. To be called on the main thread,
    /// first.
    ///
    /// The kernel tells of an end from now on. A starter that has ended already has left us to another process.
    package static func endWithStarter() {
        guard let starter else { return }
        _ = latchkey_prctl(PR_SET_PDEATHSIG, UInt(SIGTERM))
        if getppid() != starter { _ = kill(getpid(), SIGTERM) }
    }

    /// The number of the process that started this worker; `nil` in any other process.
    private static var starter: pid_t? {
        guard let own = unsafe CommandLine.unsafeArgv.pointee, let text = unsafe String(validatingCString: own),
            text.hasPrefix(name)
        else { return nil }
        return pid_t(text.dropFirst(name.utf8.count))
    }

    /// Whether this is a worker whose starter has ended.
    static var hasLostStarter: Bool { starter.map { getppid() != $0 } ?? false }

    /// Starts a program with this one's arguments, passes on what signals ask for, and ends as it does.
    static func run(_ path: String) throws(SystemErrorNumber) -> Never {
        var (waiting, former) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&waiting)
        for number in forwarded { unsafe sigaddset(&waiting, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &waiting, &former)
        var settings = ChildProcess.Settings()
        // Linux has 64 signals (signal(7)).
        settings.blockedSignals = (1...64).filter { unsafe sigismember(&former, $0) == 1 }
        let started = Result { () throws(SystemErrorNumber) in
            try unsafe ChildProcess(path, [name + String(getpid())], ownFrom: 1, settings)
        }
        if case .success(let child) = started {
            unsafe process = child.processID
            forwardSignals()
        }
        unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
        ChildProcess.end(like: try started.get().wait())
    }

    /// Starts a program with other arguments and nothing to read or to write to, waits for its end, and returns what it
    /// exited with, or 128 and the number of the signal that ended it.
    static func runQuietly(_ path: String, _ arguments: [String]) throws(SystemErrorNumber) -> Int32 {
        var settings = ChildProcess.Settings()
        settings.descriptors = (0...2).map { .opens($0, path: "/dev/null", flags: O_RDWR) }
        let child = try unsafe ChildProcess(path, [name + String(getpid())] + arguments, settings)
        return ChildProcess.exitStatus(child.wait())
    }

    /// What is typed at a terminal goes to the worker anyway, which is in the same group; what another process sends
    /// doesn't, and neither does the end of the terminal: that is told to the session's leader alone (POSIX, General
    /// Terminal Interface, Modem Disconnect), which this process is where ssh or a terminal's window started it.
    private static func forwardSignals() {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
            // SI_KERNEL of sigaction(2).
            let isFromKernel = unsafe information?.pointee.si_code == 0x80
            if isFromKernel && number != SIGHUP { return }
            unsafe kill(WorkerProcess.process, number)
        }
        action.sa_flags = SA_RESTART | SA_SIGINFO
        for number in forwarded {
            // One that is ignored is ignored by the worker as well.
            if !SignalEffect.isIgnored(number) { unsafe sigaction(number, &action, nil) }
        }
    }
}
