internal import CLatchkeyLinux
internal import Glibc
public import LatchkeyLog

/// Protects the secrets of a process from other processes. Executables call this first.
public enum ProcessHardening {
    /// Variables that make libraries print or store what they send.
    static let debugVariables = [
        "SSLKEYLOGFILE", "URLSessionDebugLibcurl", "CURL_TRACE", "G_DBUS_DEBUG", "G_MESSAGES_DEBUG", "MALLOC_TRACE",
    ]

    /// Applies every measure and reports the refused ones. Call this before a second thread starts, because it changes
    /// the environment.
    ///
    /// Programs started later inherit the core limit, the missing variables and `SWIFT_BACKTRACE`.
    ///
    /// - Parameter startsPrograms: whether this process ever starts other programs, such as a browser. `false` adds
    ///   `no_new_privs`, which those programs would inherit: setuid wouldn't work, nor a browser's sandbox that needs
    ///   it.
    public static func apply(startsPrograms: Bool = true) -> HardeningReport {
        var report = applyCommon()
        report.note(.largeFreedMemoryOverwritten, number: latchkey_overwrite_large_freed_memory() == 1 ? nil : 0)
        if !startsPrograms { forbidNewPrivileges(&report) }
        return report
    }

    /// The same for Latchkey's own programs, which replace free(3), bind functions at the start, and decide later
    /// whether they start programs. The arguments are the errno of each, or 0.
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

    /// Opens closed descriptors in the wrong direction, so that using one is still an error and not a silent success.
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

    /// Removes the runtime's handlers, because the runtime has read `SWIFT_BACKTRACE` already. The variable is for
    /// children.
    private static func turnBacktracesOff() -> Int32? {
        // All zero is SIG_DFL.
        var standard = sigaction()
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV]
        where !SignalEffect.isIgnored(number) {
            if unsafe sigaction(number, &standard, nil) != 0 { return errno }
        }
        return unsafe setenv("SWIFT_BACKTRACE", "enable=no", 1) == 0 ? nil : errno
    }

    private static func removeDebugVariables() -> Int32? {
        for name in debugVariables where unsafe unsetenv(name) != 0 { return errno }
        return nil
    }
}

/// The measures that protect this process, and those that failed.
public struct HardeningReport: Sendable, Hashable {
    package enum Measure: Sendable, Hashable, CaseIterable, Loggable {
        /// Descriptors 0 to 2 are open, so that none of our files gets their numbers.
        case standardDescriptors
        /// `RLIMIT_CORE` is 0.
        case noCoreDump
        /// `PR_SET_DUMPABLE` is 0: no core dump, and no other process of the same user reads this one's memory.
        case notDumpable
        /// A crash prints no backtrace, which would show bytes of memory.
        case noBacktrace
        /// Variables that make libraries print what they send are removed.
        case noDebugVariables
        /// Larger pieces of the C heap are overwritten as they are freed (mallopt(3), `M_PERTURB`): with glibc 2.36
        /// those above 1,032 bytes, because smaller ones go to a thread's cache as they are.
        case largeFreedMemoryOverwritten
        /// free(3) overwrites the C heap. Only Latchkey's own programs have this.
        case freedMemoryOverwritten
        /// Functions are bound at the start. Binding at the first call would save registers with secrets on the stack.
        /// Only Latchkey's own programs have this; others need `LD_BIND_NOW=1` in their environment (ld.so(8)).
        case functionsBound
        /// `no_new_privs`: no program that is started from now on gets more rights than this one has (execve(2)).
        case noNewPrivileges

        /// Safe: words of ours.
        package var logMessage: LogMessage {
            switch self {
            case .standardDescriptors: "standard descriptors open"
            case .noCoreDump: "core dumps off"
            case .notDumpable: "not dumpable"
            case .noBacktrace: "backtraces off"
            case .noDebugVariables: "debug variables removed"
            case .largeFreedMemoryOverwritten: "freed memory above 1,032 bytes overwritten"
            case .freedMemoryOverwritten: "freed memory overwritten"
            case .functionsBound: "functions bound"
            case .noNewPrivileges: "no new privileges"
            }
        }
    }

    package private(set) var applied: [Measure] = []
    /// The refused measures with the system's errno, or 0.
    package private(set) var refused: [Refusal] = []

    /// The measures that weren't requested: `noNewPrivileges` in a process that starts other programs.
    package private(set) var leftOut: [Measure] = []

    package struct Refusal: Sendable, Hashable {
        package let measure: Measure
        package let number: Int32
    }

    mutating func leaveOut(_ measure: Measure) { leftOut.append(measure) }

    package mutating func note(_ measure: Measure, number: Int32?) {
        leftOut.removeAll { $0 == measure }
        if let number {
            refused.append(Refusal(measure: measure, number: number))
        } else {
            applied.append(measure)
        }
    }
}

extension HardeningReport: Loggable {
    // Safe: words of ours and error numbers.
    public var logMessage: LogMessage {
        var message: LogMessage = "process hardened: \(LogMessage.joined(applied.map(\.logMessage)))"
        if !refused.isEmpty {
            let missing = LogMessage.joined(refused.map { "\($0.measure) (\(SystemErrorNumber($0.number)))" })
            message = "\(message); refused: \(missing)"
        }
        if !leftOut.isEmpty {
            let missing = LogMessage.joined(leftOut.map(\.logMessage))
            message = "\(message); skipped, because this process starts other programs: \(missing)"
        }
        return message
    }
}
