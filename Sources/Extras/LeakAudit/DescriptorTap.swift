internal import Glibc
internal import LatchkeySystem
internal import Synchronization

/// Listens to a file descriptor of this process. All data that code in any language writes to the descriptor still
/// arrives there, and the audit gets a copy.
///
///     let tap = try DescriptorTap(descriptor: 2, as: "standard error")
///     …
///     tap.finish(into: audit)
///
/// The descriptor is a pipe and not a terminal until `finish`; child processes inherit the pipe. A tap that ends
/// without `finish` restores the descriptor too, and its copy is lost.
public struct DescriptorTap: ~Copyable, Sendable {
    private let descriptor: Int32
    private let name: String
    /// Where the descriptor led before.
    private let original: Int32
    private let reader: TapReader

    /// The descriptors that are listened to now.
    private static let tapped = Mutex<Set<Int32>>([])

    /// Begins to listen.
    ///
    /// Throws when the descriptor isn't open, or none is left for the pipe, and with EBUSY while another tap listens to
    /// the descriptor: put tests that listen to the same one into a suite that is `.serialized`.
    public init(descriptor: Int32, as stream: String) throws(CaptureFailed) {
        guard Self.tapped.withLock({ $0.insert(descriptor).inserted }) else {
            throw CaptureFailed(path: "descriptor \(descriptor)", number: EBUSY)
        }
        func failed() -> CaptureFailed {
            let number = errno
            Self.tapped.withLock { _ = $0.remove(descriptor) }
            return CaptureFailed(path: "descriptor \(descriptor)", number: number)
        }
        let kept = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard kept >= 0 else { throw failed() }
        guard let ends = try? DescriptorBytes.pipe() else {
            let failure = failed()
            close(kept)
            throw failure
        }
        guard let started = TapReader(from: ends.reading, to: kept), dup2(ends.writing, descriptor) >= 0 else {
            let failure = failed()
            close(ends.writing)
            close(kept)
            throw failure
        }
        close(ends.writing)
        self.descriptor = descriptor
        name = stream
        original = kept
        reader = started
    }

    deinit {
        Self.end(descriptor, original, reader)
    }

    /// Leads the descriptor where it led before, waits for what is still in the pipe, and hands all of it to the audit.
    ///
    /// A child process that still holds the pipe keeps this waiting until it ends.
    public consuming func finish(into audit: LeakAudit, allowing allowed: AllowedLeak? = nil) {
        let (name, reader) = (name, reader)
        // Ends the tap before its bytes are read.
        _ = consume self
        audit.capture(reader.bytes, as: name, allowing: allowed)
    }

    private static func end(_ descriptor: Int32, _ original: Int32, _ reader: TapReader) {
        // Writes what the C library has buffered for the descriptor before it leads elsewhere.
        fflush(nil)
        dup2(original, descriptor)
        reader.wait()
        close(original)
        tapped.withLock { _ = $0.remove(descriptor) }
    }
}

/// The thread that empties the pipe.
final class TapReader: Sendable {
    private let source: Int32
    private let target: Int32
    private let kept = Mutex<[UInt8]>([])
    private let thread = Mutex<SystemThread?>(nil)

    /// Takes over `source` and closes it at its end. Returns `nil` and sets errno if no thread can start.
    init?(from source: Int32, to target: Int32) {
        self.source = source
        self.target = target
        do throws(SystemErrorNumber) {
            let started = try SystemThread(joinable: { self.run() })
            thread.withLock { $0 = started }
        } catch {
            close(source)
            errno = error.number
            return nil
        }
    }

    var bytes: [UInt8] { kept.withLock { $0 } }

    /// Waits for the end of the pipe.
    func wait() {
        let running = thread.withLock { $0.take() }
        running?.join()
    }

    private func run() {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes {
                unsafe (try? DescriptorBytes.read(source, into: $0)) ?? 0
            }
            guard count > 0 else { break }
            let taken = Array(piece[..<count])
            kept.withLock { $0 += taken }
            // Where it went before may take no more; the audit still gets it.
            _ = try? DescriptorBytes.write(taken.span, to: target)
        }
        close(source)
    }
}
