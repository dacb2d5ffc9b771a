internal import CLatchkeyLinux
internal import Glibc

/// A process between `run --mask` and the user's program. It starts the program and reports its state.
///
/// The program's terminal has a separate session. Ctrl-Z can't stop a program that leads a session, because no process
/// could continue it (POSIX, Orphaned Process Group). So this process leads the session. The monitor is a new process
/// of this program, with the secrets of the user's program and no others.
enum ChildMonitor {
    // Signal handlers can reach nothing but globals. Written once, before the handlers are set.
    private nonisolated(unsafe) static var program: pid_t = 0
    private nonisolated(unsafe) static var starter: pid_t = 0
    /// The program decides about signals that would end it.
    private static let ignored = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]

    /// The monitor's arguments: its name with the descriptor for its reports, the variables for files with the files'
    /// descriptors, and the program's path. The program's own arguments follow.
    static func arguments(report: Int32, files: [String: Int32], path: String, _ words: [String]) -> [String] {
        [
            ProcessRole.monitor.name(report), files.map { "\($0.key)=\($0.value)" }.joined(separator: " "), path,
        ] + words
    }

    /// In a process that was started as a monitor.
    static func run(report: Int32) -> Never {
        guard unsafe ProgramArguments.pointers.count > 3 else { exit(ExitStatus.usage.rawValue) }
        _ = fcntl(report, F_SETFD, FD_CLOEXEC)
        for file in argument(1).split(separator: " ") {
            let parts = file.split(separator: "=")
            guard parts.count == 2, let descriptor = Int32(parts[1]) else { continue }
            // The program's own number isn't known before it runs. This process lives as long.
            unsafe setenv(String(parts[0]), ChildFileSink.path(of: descriptor, in: getpid()), 1)
        }
        run(argument(2), report)
    }

    private static func argument(_ index: Int) -> String {
        String(decoding: ProgramArguments.bytes(index) ?? [], as: UTF8.self)
    }

    private static func run(_ path: String, _ report: Int32) -> Never {
        let leads = getsid(0) == getpid()
        // A terminal of our own ends with the starter, a moment before the kernel tells of that.
        let signals = ignored.filter { !SignalEffect.isIgnored($0) }
        for number in signals { signal(number, SIG_IGN) }
        unsafe starter = getppid()
        var settings = ChildProcess.Settings()
        settings.defaultSignals = signals
        settings.leadsGroup = leads
        if leads { settings.descriptors = [.leadsTerminal(0)] }
        let child = mapError(
            { (error: SystemErrorNumber) -> Never in
                tell(-error.number, report)
                exit(0)
            }, of: try unsafe ChildProcess(path, [], ownFrom: 3, settings))
        unsafe program = child.processID
        endWithStarter(report)
        tell(child.processID, report)
        if leads {
            // The monitor continues the stopped program: in its own session that is allowed for any user of the program.
            signal(SIGCONT) { _ in unsafe kill(-ChildMonitor.program, SIGCONT) }
        }
        while true {
            let status = child.wait(leads ? WUNTRACED : 0)
            tell(status, report)
            if status & 0x7F != 0x7F { exit(0) }
        }
    }

    /// Makes SIGKILL of the starter end the program too. Otherwise the program would go on with its secrets, and no
    /// process would mask its output.
    ///
    /// SIGURG has no effect by default, so another process can't end the program with it.
    private static func endWithStarter(_ report: Int32) {
        // After the starter's end no process reads the reports.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGURG) { _ in
            if unsafe getppid() != ChildMonitor.starter { unsafe kill(ChildMonitor.program, SIGKILL) }
        }
        _ = latchkey_prctl(PR_SET_PDEATHSIG, UInt(SIGURG))
        // The kernel tells of an end from now on. One before it has closed the pipe's other end.
        var pipe = pollfd(fd: report, events: 0, revents: 0)
        if unsafe poll(&pipe, 1, 0) > 0, pipe.revents & Int16(POLLERR) != 0 { unsafe kill(program, SIGKILL) }
    }

    private static func tell(_ value: Int32, _ report: Int32) {
        var value = value
        unsafe withUnsafeBytes(of: &value) { bytes in
            while unsafe write(report, bytes.baseAddress, bytes.count) < 0 && errno == EINTR {}
        }
    }
}
