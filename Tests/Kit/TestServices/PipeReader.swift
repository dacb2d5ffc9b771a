public import Foundation

/// Reads a pipe to its end on a thread of its own: a writer that waits for room must not wait for a task that waits for
/// the writer's thread.
public final class PipeReader: @unchecked Sendable {
    // Sendable: the bytes are written before the semaphore is signalled and read after it.
    private let done = DispatchSemaphore(value: 0)
    private var bytes = Data()

    public init(_ pipe: Pipe) {
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread { [self] in
            bytes = (try? handle.readToEnd()) ?? Data()
            done.signal()
        }
    }

    /// Waits for the end of the pipe.
    public func finish() -> Data {
        done.wait()
        return bytes
    }
}
