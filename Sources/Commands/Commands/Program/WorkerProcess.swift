internal import CLatchkeyLinux
internal import Glibc

/// A second process of this program, which does a command's work. Killing the first process doesn't kill the work.
///
/// A refresh that is cut off between the server's response and the store loses the session. If the starter of a worker
/// ends, the worker gets SIGTERM: it waits for the store and ends all other work.
enum WorkerProcess {
    private static let forwarded = [SIGINT, SIGTERM, SIGHUP]

    // A signal handler can reach nothing but globals. Written once, before the handlers are set.
    private nonisolated(unsafe) static var process: pid_t = 0

    /// Makes the kernel send SIGTERM when the starter ends. Call this in a worker, on its main thread.
    ///
    /// The kernel only reports a later end. If the starter has ended already, the worker has another parent.
    static func begin(starter: pid_t) {
        _ = latchkey_prctl(PR_SET_PDEATHSIG, UInt(SIGTERM))
        if getppid() != starter { _ = kill(getpid(), SIGTERM) }
    }

    /// Whether this process is a worker.
    static var isThis: Bool { ProcessRole.numbers(as: .worker) != nil }

    /// Whether this is a worker whose starter has ended.
    static var hasLostStarter: Bool { ProcessRole.numbers(as: .worker).map { getppid() != $0[0] } ?? false }

    /// Has a worker do this process's command, passes on what signals ask for, and returns its status (wait(2)).
    static func run() throws(CommandFailure) -> Int32 {
        var (waiting, former) = (sigset_t(of: forwarded), sigset_t())
        unsafe pthread_sigmask(SIG_BLOCK, &waiting, &former)
        var settings = ChildProcess.Settings()
        // Linux has 64 signals (signal(7)).
        settings.blockedSignals = (1...64).filter { unsafe sigismember(&former, $0) == 1 }
        let started = Result { () throws(CommandFailure) in try start([], ownFrom: 1, settings) }
        if case .success(let child) = started {
            unsafe process = child.processID
            forwardSignals()
        }
        unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
        return try started.get().wait()
    }

    /// Has a worker do another command with nothing to read or to write to, and returns what it exited with, or 128 and
    /// the number of the signal that ended it.
    static func runQuietly(_ arguments: [String]) throws(CommandFailure) -> Int32 {
        ChildProcess.exitStatus(try start(arguments, .quiet).wait())
    }

    private static func start(
        _ arguments: [String], ownFrom index: Int? = nil, _ settings: ChildProcess.Settings
    ) throws(CommandFailure) -> ChildProcess {
        try mapError(
            ThisProgram.notStarted,
            of: unsafe ChildProcess(
                ThisProgram.file, [ProcessRole.worker.name(getpid())] + arguments, ownFrom: index, settings))
    }

    /// Ctrl-C at a terminal reaches the worker anyway, because the worker is in the same group. A signal from another process
    /// doesn't, nor does the end of the terminal: only the session's leader learns of that (POSIX, General Terminal
    /// Interface, Modem Disconnect), which is this process if ssh or a terminal's window started it.
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
