internal import Glibc
internal import Synchronization

/// A thread of the system, for work that blocks, so that the tasks' few threads stay free.
///
/// The program's own threads get its signals. This thread blocks all except those of a crash.
package struct SystemThread: Sendable {
    private let number: pthread_t

    /// Starts a thread, which must be joined. Throws pthread_create(3)'s error number.
    package init(joinable body: @escaping @Sendable () -> Void) throws(SystemErrorNumber) {
        number = try Self.start(nil, body)
    }

    /// Waits until the work has ended.
    package consuming func join() { pthread_join(number, nil) }

    /// Starts a thread that no other thread waits for. Throws pthread_create(3)'s error number.
    ///
    /// - Parameter stackByteCount: for work that needs little; by default what the system gives.
    package static func detach(
        stackByteCount: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(SystemErrorNumber) {
        pthread_detach(try start(stackByteCount, body))
    }

    private static func start(
        _ stackByteCount: Int?, _ body: @escaping @Sendable () -> Void
    ) throws(SystemErrorNumber) -> pthread_t {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        if let stackByteCount { unsafe pthread_attr_setstacksize(&attributes, stackByteCount) }
        let work = unsafe Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let number = withSignalsBlocked {
            unsafe pthread_create(
                &thread, &attributes,
                { work in
                    unsafe Unmanaged<Box<@Sendable () -> Void>>.fromOpaque(work!).takeRetainedValue().value()
                    return nil
                }, work.toOpaque())
        }
        guard number == 0 else {
            unsafe work.release()
            throw SystemErrorNumber(number)
        }
        return thread
    }
}

/// Runs work that blocks on a thread of its own, so that the tasks' few threads stay free.
package enum BlockingWork {
    package static func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            do throws(SystemErrorNumber) {
                try SystemThread.detach {
                    body()
                    done.resume()
                }
            } catch {
                // No thread is to be had: better here than not at all.
                body()
                done.resume()
            }
        }
    }
}

/// An errno(3).
package struct SystemErrorNumber: Error, Sendable, Hashable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }
}

/// Runs what this thread's signals mustn't interrupt, or a call that starts threads, ours or a library's: a new thread
/// inherits the signal mask, and only the program's own threads should get signals. The signals of a crash stay unblocked.
package func withSignalsBlocked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result
{
    var blocked = sigset_t()
    var previous = sigset_t()
    unsafe sigfillset(&blocked)
    for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { unsafe sigdelset(&blocked, signal) }
    unsafe pthread_sigmask(SIG_SETMASK, &blocked, &previous)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
    return try body()
}

/// A value that can't be copied, such as a secret, where an array, a closure or a C library refers to it.
package final class Box<Value: ~Copyable & Sendable>: Sendable {
    package let value: Value

    package init(_ value: consuming Value) {
        self.value = value
    }
}

/// Has a mirror without children. Swift's own mirror copies the value, and ends the process if it can't be copied: in
/// `dump`, for example, and in a failing `#expect`.
extension Box: CustomReflectable where Value: ~Copyable {
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A value on its way into a task or thread, or out of one. The first to take it has it.
package final class Handover<Value: ~Copyable & Sendable>: Sendable {
    private let slot: Mutex<Value?>

    package init(_ value: consuming Value? = nil) {
        slot = Mutex(value)
    }

    package func give(_ value: consuming Value) {
        var value: Value? = value
        slot.withLock { $0 = value.take() }
    }

    package func take() -> Value? {
        slot.withLock { $0.take() }
    }
}
