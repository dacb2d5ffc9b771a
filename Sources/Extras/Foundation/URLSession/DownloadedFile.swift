internal import Foundation
internal import Glibc
internal import LatchkeySystem
internal import Synchronization

/// A temporary file for a response beside the final one, accessible only to its owner. An unfinished file is removed.
final class DownloadedFile: Sendable {
    private struct State: Sendable {
        var descriptor: Int32
        /// The errno of the first failure.
        var failure: Int32 = 0
        var isFinished = false
    }

    let maximumByteCount: Int
    private let path: String
    private let temporaryPath: String
    private let state: Mutex<State>

    /// - Parameter path: of the finished file; one that is there is replaced then, as a whole.
    init(path: String, maximumByteCount: Int) throws(SystemErrorNumber) {
        self.path = path
        self.maximumByteCount = maximumByteCount
        temporaryPath = path + ".\(UInt64.random(in: .min ... .max))"
        let descriptor = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemErrorNumber(errno) }
        state = Mutex(State(descriptor: descriptor))
    }

    /// Appends to the file; returns false, and remembers why, when it can't be.
    func write(_ data: Data) -> Bool {
        state.withLock { state in
            guard state.failure == 0 else { return false }
            state.failure = Self.write(data, to: state.descriptor)
            return state.failure == 0
        }
    }

    private static func write(_ data: Data, to descriptor: Int32) -> Int32 {
        failure(SystemErrorNumber.self, of: try DescriptorBytes.write(data.span, to: descriptor))?.number ?? 0
    }

    /// Empties the file, for another response; returns false, and remembers why, when it can't.
    func restart() -> Bool {
        state.withLock { state in
            if ftruncate(state.descriptor, 0) != 0 || lseek(state.descriptor, 0, SEEK_SET) != 0 {
                state.failure = errno
            }
            return state.failure == 0
        }
    }

    /// The errno of a write that failed, or 0.
    var failureNumber: Int32 { state.withLock { $0.failure } }

    /// Gives the file its name.
    func finish() throws(SystemErrorNumber) {
        let number: Int32 = state.withLock { state in
            guard state.failure == 0 else { return state.failure }
            guard unsafe rename(temporaryPath, path) == 0 else { return errno }
            state.isFinished = true
            return 0
        }
        if number != 0 { throw SystemErrorNumber(number) }
    }

    /// Removes what isn't finished. Foundation may hold the file for a moment longer.
    func discard() {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            state.failure = ECANCELED
            _ = unsafe unlink(temporaryPath)
        }
    }

    deinit {
        discard()
        state.withLock { state in _ = close(state.descriptor) }
    }
}
