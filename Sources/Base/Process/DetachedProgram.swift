internal import Glibc
package import LatchkeySystem
internal import Synchronization

/// A started program that runs independently, such as a browser.
///
/// Its standard descriptors are `/dev/null`; `ChildProcess.Settings.detached` has its other settings.
package final class DetachedProgram: Sendable {
    private struct State: Sendable {
        var ending: Ending?
        var waiting: [CheckedContinuation<Ending?, Never>] = []
        var isAbandoned = false
    }

    /// How a program ended.
    package enum Ending: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    private let process: ChildProcess
    private let state = Mutex(State())

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
    package var present: Ending? { state.withLock { $0.ending } }

    /// Returns how the program ended once it has, or `nil` when the task was cancelled before.
    package func ending() async -> Ending? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Ending?? = state.withLock { state in
                    if state.ending == nil && !state.isAbandoned {
                        state.waiting.append(continuation)
                        return nil
                    }
                    return .some(state.ending)
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.isAbandoned = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume(returning: nil) }
        }
    }

    // MARK: - Waiting for its end

    private func wait() {
        let status = process.wait()
        let signal = status & 0x7F
        let ending = signal == 0 ? Ending.exited(status >> 8 & 0xFF) : .signalled(signal)
        let waiting = state.withLock { state in
            state.ending = ending
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: ending) }
    }

    // MARK: - Starting

    /// Searches as execvp(3) does, with the child's path, but never in the present folder. Returns `nil` if the program
    /// doesn't exist.
    package static func path(of name: String, in path: String?) -> String? {
        guard !name.contains("/") else { return name }
        guard !name.isEmpty else { return nil }
        return (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }.first { file in
            var status = stat()
            return unsafe stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(file, X_OK) == 0
        }
    }
}
