internal import Glibc
package import LatchkeySystem

/// A started program that runs independently, such as a browser.
///
/// Its standard descriptors are `/dev/null`; `ChildProcess.Settings.detached` has its other settings.
package final class DetachedProgram: Sendable {
    /// How a program ended.
    package enum Ending: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    private let process: ChildProcess
    private let end = Pending<Ending>()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the program's name or path comes first; a name is searched in the `PATH` of `environment`.
    ///   - environment: all of the child's variables.
    ///   - input: the child's standard input, such as a pipe's end (default: `/dev/null`).
    package init(
        _ arguments: [String], environment: [String: String], input: Int32? = nil
    ) throws(SystemErrorNumber) {
        guard let name = arguments.first, let path = Self.path(of: name, in: environment["PATH"]) else {
            throw SystemErrorNumber(ENOENT)
        }
        let variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe variables.forEach { unsafe free($0) } }
        process = try unsafe ChildProcess(path, arguments, environment: variables, .detached(input: input))
        // A thread of its own waits, so that no zombie stays: a library can't own SIGCHLD.
        try SystemThread.detach(stackByteCount: 64 << 10) { self.wait() }
    }

    package var processID: Int32 { process.processID }

    /// How the program ended, if it has.
    package var present: Ending? { end.present }

    /// Returns how the program ended once it has, or `nil` when the task was cancelled before.
    package func ending() async -> Ending? { await end.valueUnlessCancelled() }

    // MARK: - Waiting for its end

    private func wait() {
        let status = process.wait()
        let signal = status & 0x7F
        end.complete(signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal))
    }

    // MARK: - Starting

    /// Searches as execvp(3) does, with the child's path, but never in the present folder. Returns `nil` if the program
    /// doesn't exist.
    package static func path(of name: String, in path: String?) -> String? {
        guard !name.contains("/") else { return name }
        guard !name.isEmpty else { return nil }
        return (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }.first { file in
            unsafe (try? FileStatus.of(file))?.isRegularFile == true && access(file, X_OK) == 0
        }
    }
}
