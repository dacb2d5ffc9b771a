internal import Glibc
internal import LatchkeyLog
internal import LatchkeySystem
package import LatchkeyTerminal

/// A program of ours beside this one, which links what this one does without.
package enum OtherProgram: String {
    /// Runs the commands that need the network.
    case auth = "latchkey-auth"
    /// Serves the keyring.
    case keyring = "latchkey-keyring"

    private var places: [String] {
        guard let path = ThisProgram.path, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return [] }
        return ["\(path[..<slash])/\(rawValue)", "\(path[..<slash])/../lib/latchkey/\(rawValue)"]
    }

    var isInstalled: Bool { places.contains { unsafe access($0, X_OK) == 0 } }

    /// Has the program that a command needs work with the same arguments and ends as it does, or throws why it can't.
    ///
    /// The network's works in a process of its own, so that killing this one in the midst of a refresh costs nothing. For
    /// `run` this process becomes that program, because it is to become the person's.
    ///
    /// It is looked for beside this program, then in `../lib/latchkey`; never on `PATH`, where another user's program
    /// could have its name.
    static func work(_ arguments: ParsedArguments) throws(CommandFailure) -> Never {
        let command = arguments.command.name
        let isServed = KeyringDefinitions.all.contains { $0.name == command }
        let path = try (isServed ? keyring : auth).path()
        if command == KeyringDefinitions.run.name { try KeyringSession.run(path, arguments) }
        if command == "run" || isServed {
            unsafe execv(path, CommandLine.unsafeArgv)
            throw notStarted(path, errno)
        }
        try mapError({ (error: SystemErrorNumber) in notStarted(path, error.number) }, of: WorkerProcess.run(path))
    }

    /// Has `latchkey-auth` work with other arguments, silently, and returns its exit status.
    package static func runQuietly(_ arguments: [String]) throws(CommandFailure) -> Int32 {
        try runQuietly(auth.path(), arguments)
    }

    /// The same with any program.
    package static func runQuietly(_ path: String, _ arguments: [String]) throws(CommandFailure) -> Int32 {
        try mapError(
            { (error: SystemErrorNumber) in notStarted(path, error.number) },
            of: WorkerProcess.runQuietly(path, arguments))
    }

    private func path() throws(CommandFailure) -> String {
        if let path = places.first(where: { unsafe access($0, X_OK) == 0 }) { return path }
        let name = LoggableText(reviewed: "the name of a program of ours", unredacted: rawValue)
        throw CommandFailure(
            .unavailable, "program.not-found", "\(name), which this command needs, is not installed beside latchkey",
            hint: self == .keyring
                ? "install Debian's package of that name, or copy all programs to one folder"
                : "install both programs in one folder, or \(name) in ../lib/latchkey")
    }

    private static func notStarted(_ path: String, _ number: Int32) -> CommandFailure {
        CommandFailure(.unavailable, "program.not-started", "\(shown(path)) can't be started (errno \(number))")
    }

    private static func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of this installation", unredacted: path)
    }
}
