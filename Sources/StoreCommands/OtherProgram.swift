internal import Glibc
internal import LatchkeyLog
package import LatchkeyTerminal

/// `latchkey-auth`, which runs the commands that need the network.
package enum OtherProgram {
    private static let name = "latchkey-auth"

    private static func places(beside folder: String) -> [String] {
        ["\(folder)/\(name)", "\(folder)/../lib/latchkey/\(name)"]
    }

    static var isInstalled: Bool {
        guard let folder = folderOfThisProgram() else { return false }
        return places(beside: folder).contains { unsafe access($0, X_OK) == 0 }
    }

    /// Has that program work with the same arguments and ends as it does, or throws why it can't.
    ///
    /// It works in a process of its own, so that killing this one in the midst of a refresh costs nothing. For `run`
    /// this process becomes that program, because it is to become the person's.
    ///
    /// It is looked for beside this program, then in `../lib/latchkey`; never on `PATH`, where another user's program
    /// could have its name.
    static func work(_ command: String) throws(CommandFailure) -> Never {
        let path = try path()
        var number = errno
        if command == "run" {
            unsafe execv(path, CommandLine.unsafeArgv)
            number = errno
        } else {
            number = WorkerProcess.run(path)
        }
        throw notStarted(path, number)
    }

    /// Has that program work with other arguments, silently, and returns its exit status.
    package static func runQuietly(_ arguments: [String]) throws(CommandFailure) -> Int32 {
        try runQuietly(path(), arguments)
    }

    /// The same with any program.
    package static func runQuietly(_ path: String, _ arguments: [String]) throws(CommandFailure) -> Int32 {
        var status: Int32 = 0
        let number = WorkerProcess.runQuietly(path, arguments, &status)
        if number != 0 { throw notStarted(path, number) }
        return status
    }

    private static func path() throws(CommandFailure) -> String {
        guard let folder = folderOfThisProgram() else {
            throw CommandFailure(.unavailable, "program.not-found", "the path of this program can't be read")
        }
        if let path = places(beside: folder).first(where: { unsafe access($0, X_OK) == 0 }) { return path }
        throw CommandFailure(
            .unavailable, "program.not-found",
            "latchkey-auth, which this command needs, is not installed beside latchkey in \(shown(folder))",
            hint: "install both programs in one folder, or latchkey-auth in ../lib/latchkey")
    }

    private static func notStarted(_ path: String, _ number: Int32) -> CommandFailure {
        CommandFailure(.unavailable, "program.not-started", "\(shown(path)) can't be started (errno \(number))")
    }

    private static func folderOfThisProgram() -> String? {
        guard let path = ThisProgram.path, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(path[..<slash])
    }

    private static func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of this installation", unredacted: path)
    }
}
