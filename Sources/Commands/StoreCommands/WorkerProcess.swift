internal import CLatchkeyLinux
internal import Glibc
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

    /// Starts a program with this one's arguments, passes on what signals ask for, and ends as it does. Returns the
    /// errno when it can't be started.
    static func run(_ path: String) -> Int32 {
        var (waiting, former) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&waiting)
        for number in forwarded { unsafe sigaddset(&waiting, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &waiting, &former)
        // Where a starter has it ignored, the kernel keeps no status to wait for.
        signal(SIGCHLD, SIG_DFL)
        let own = unsafe (1..<max(Int(CommandLine.argc), 1)).map { unsafe CommandLine.unsafeArgv[$0] }
        let failure = unsafe start(path, own, &former, actions: nil)
        if failure == 0 { forwardSignals() }
        unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
        if failure != 0 { return failure }
        end(like: wait())
    }

    /// Starts a program with other arguments and nothing to read or to write to, and waits for its end. Returns the
    /// errno when it can't be started.
    ///
    /// - Parameter status: what it exited with, or 128 and the number of the signal that ended it.
    static func runQuietly(_ path: String, _ arguments: [String], _ status: inout Int32) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var failure = unsafe posix_spawn_file_actions_init(&actions)
        if failure != 0 { return failure }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in 0...2 as ClosedRange<Int32> {
            failure = unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            if failure != 0 { return failure }
        }
        let words = unsafe arguments.map { unsafe strdup($0) }
        defer { unsafe words.forEach { unsafe free($0) } }
        signal(SIGCHLD, SIG_DFL)
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        failure = unsafe start(path, words, &mask, actions: &actions)
        if failure != 0 { return failure }
        let ended = wait()
        status = ended & 0x7F == 0 ? ended >> 8 & 0xFF : 128 + ended & 0x7F
        return 0
    }

    private static func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            if errno != EINTR { exit(ExitStatus.internalError.rawValue) }
        }
        return status
    }

    private static func start(
        _ path: String, _ words: [UnsafeMutablePointer<CChar>?], _ mask: inout sigset_t,
        actions: UnsafePointer<posix_spawn_file_actions_t>?
    ) -> Int32 {
        var attributes = posix_spawnattr_t()
        var failure = unsafe posix_spawnattr_init(&attributes)
        if failure != 0 { return failure }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        failure = unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        if failure == 0 { failure = unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK)) }
        if failure != 0 { return failure }
        return unsafe (name + String(getpid())).withCString { name in
            let pointers = unsafe [UnsafeMutablePointer(mutating: name)] + words + [nil]
            return unsafe posix_spawn(&process, path, actions, &attributes, pointers, environ)
        }
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

    static func end(like status: Int32) -> Never {
        let number = status & 0x7F
        if number != 0 {
            signal(number, SIG_DFL)
            _ = kill(getpid(), number)
        }
        exit(number == 0 ? status >> 8 & 0xFF : 128 + number)
    }
}
