internal import Glibc

/// The process limits that a program needs. A low limit is an ordinary error at the start, not a crash in the middle.
enum ProcessLimits {
    /// The number of files that a command has open at once, with a reserve. A library that can't open another file ends the
    /// process (libdispatch) or waits indefinitely.
    private static let descriptorCount: Int32 = 32

    /// Throws if too few files can be opened (RLIMIT_NOFILE). A write to a file that may not grow (RLIMIT_FSIZE) then
    /// fails instead of raising a signal. Started programs get the signals' original actions back.
    static func prepare() throws(CommandFailure) {
        // A handler that does nothing, and not SIG_IGN, which programs that are started would inherit.
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        unsafe sigaction(SIGXFSZ, &action, nil)

        // The lowest free number, plus the reserve: the system refuses a number above the limit (EINVAL).
        let first = fcntl(0, F_DUPFD_CLOEXEC, 0)
        guard first >= 0 else { throw tooFew(errno) }
        let last = fcntl(first, F_DUPFD_CLOEXEC, first + descriptorCount - 1)
        let number = errno
        close(first)
        guard last >= 0 else { throw tooFew(number == EINVAL ? EMFILE : number) }
        close(last)
    }

    private static func tooFew(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .unavailable, "process.too-few-descriptors",
            "this process can't open \(descriptorCount) files: \(SystemErrorNumber(number))",
            hint: "raise the limit on open files: ulimit -n 1024")
    }
}
