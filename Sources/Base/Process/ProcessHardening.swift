internal import CLatchkeyLinux
internal import Glibc

/// Makes a process that holds secrets hard to look into. For executables, as the first thing they do.
public enum ProcessHardening {
    /// Variables that make libraries print or store what they send.
    static let debugVariables = [
        "SSLKEYLOGFILE", "URLSessionDebugLibcurl", "CURL_TRACE", "G_DBUS_DEBUG", "G_MESSAGES_DEBUG", "MALLOC_TRACE",
    ]

    /// Applies every measure and says which the system refused. Call it before there is a second thread: it changes the
    /// environment.
    ///
    /// Programs started later inherit the core limit, the missing variables and `SWIFT_BACKTRACE`.
    ///
    /// - Parameter startsPrograms: whether this process ever starts programs of others, such as a browser. `false` adds
    ///   `no_new_privs`, which they would inherit: setuid, and a browser's sandbox that needs it, work no more.
    public static func apply(startsPrograms: Bool = true) -> HardeningReport {
        var report = applyCommon()
        report.note(.largeFreedMemoryOverwritten, number: mallopt(M_PERTURB, 0xA5) == 1 ? nil : 0)
        if !startsPrograms { forbidNewPrivileges(&report) }
        return report
    }

    /// The same in Latchkey's own programs, which replace free(3), bind what they call, and decide later whether they
    /// start programs: with the errno of each, or 0.
    package static func apply(overwritingFreedMemory: Int32, bindingFunctions: Int32) -> HardeningReport {
        var report = applyCommon()
        report.note(.freedMemoryOverwritten, number: overwritingFreedMemory == 0 ? nil : overwritingFreedMemory)
        report.note(.functionsBound, number: bindingFunctions == 0 ? nil : bindingFunctions)
        return report
    }

    private static func applyCommon() -> HardeningReport {
        var report = HardeningReport()
        report.note(.standardDescriptors, number: openStandardDescriptors())
        report.note(.noCoreDump, number: turnCoreDumpsOff())
        report.note(.notDumpable, number: latchkey_prctl(PR_SET_DUMPABLE, 0) == 0 ? nil : errno)
        report.note(.noBacktrace, number: turnBacktracesOff())
        report.note(.noDebugVariables, number: removeDebugVariables())
        report.leaveOut(.noNewPrivileges)
        return report
    }

    /// Adds `no_new_privs` once it is known that the process starts no program of others: for this thread, and for
    /// those that it starts later.
    package static func forbidNewPrivileges(_ report: inout HardeningReport) {
        report.note(.noNewPrivileges, number: latchkey_prctl(PR_SET_NO_NEW_PRIVS, 1) == 0 ? nil : errno)
    }

    /// Opens what is closed the wrong way round: using it is then an error, as it was before, and not a silent success.
    private static func openStandardDescriptors() -> Int32? {
        for (descriptor, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] {
            if fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF { continue }
            // open(2) takes the lowest free number, which is this one.
            let opened = unsafe open("/dev/null", mode)
            if opened != descriptor { return opened < 0 ? errno : EBADF }
        }
        return nil
    }

    private static func turnCoreDumpsOff() -> Int32? {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 ? nil : errno
    }

    /// The runtime has read `SWIFT_BACKTRACE` already: its handlers are taken out, and the variable is for children.
    private static func turnBacktracesOff() -> Int32? {
        // All zero is SIG_DFL.
        var standard = sigaction()
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV] {
            if unsafe sigaction(number, &standard, nil) != 0 { return errno }
        }
        return unsafe setenv("SWIFT_BACKTRACE", "enable=no", 1) == 0 ? nil : errno
    }

    private static func removeDebugVariables() -> Int32? {
        for name in debugVariables where unsafe unsetenv(name) != 0 { return errno }
        return nil
    }
}
