internal import Glibc
internal import LatchkeyLog
package import LatchkeyCommandLine

/// A descriptor that the program's caller left open for a secret.
package struct PassedDescriptor {
    package let number: Int32

    /// Takes it over: programs that are started from here don't get it.
    fileprivate init(_ number: Int32, of option: CommandOption) throws(CommandFailure) {
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0 else {
            throw CommandFailure(
                .refused, "passphrase.closed-descriptor",
                "\(option.name) names descriptor \(number), which is not open",
                hint: "open it for this command, as in: \(option.name) \(number) \(number)<FILE")
        }
        guard isatty(number) == 0 else {
            throw CommandFailure(
                .refused, "passphrase.terminal", "descriptor \(number) is a terminal, which would show the passphrase",
                hint: "leave out \(option.name), and it is asked for")
        }
        _ = fcntl(number, F_SETFD, flags | FD_CLOEXEC)
        self.number = number
    }
}

extension ParsedArguments {
    /// The descriptor that an option names, or `nil` without the option.
    package func passedDescriptor(_ option: CommandOption) throws(CommandFailure) -> PassedDescriptor? {
        guard let number = descriptor(option) else { return nil }
        return try PassedDescriptor(number, of: option)
    }
}
