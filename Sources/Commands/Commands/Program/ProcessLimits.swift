internal import Glibc
internal import LatchkeyLog
internal import LatchkeyCommandLine
internal import LatchkeySystem

/// What a program needs of its process before it begins, so that a limit is an ordinary error and not a death in the
/// middle.
enum ProcessLimits {
    /// How many files a command has open at once, with room to spare. Libraries that can't have another end the process
    /// (libdispatch), or wait for ever.
    private static let descriptorCount: Int32 = 32

    /// Throws when too few files can be opened (RLIMIT_NOFILE). From then on, a file that may not grow (RLIMIT_FSIZE)
    /// is an error of the write, and no signal. Programs that are started have their own signals' actions back.
    static func prepare() throws(CommandFailure) {
        // A handler that does nothing, and not SIG_IGN, which programs that are started would inherit.
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        unsafe sigaction(SIGXFSZ, &action, nil)

        // The lowest that is free, and one so far above it: past the limit it is refused (EINVAL).
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
