internal import CTestProcess
public import Foundation
internal import Synchronization

/// A program that runs beside the test, killed together with everything it started when this value dies.
public final class RunningProgram: Sendable {
    public let pid: Int32
    private let name: String
    /// Output goes to memory files, not pipes: it can be read at any time, and no full pipe ever stops the program.
    private let output: Int32
    private let errorOutput: Int32
    private let input: Mutex<Int32>
    private let exit = Exit()
    /// Whether what it started may go on without it.
    private let leavesWorkers = LockedFlag()

    init(
        path: String, arguments: [String], environment: [String: String], folder: String,
        terminal: Spawn.Terminal? = nil
    ) throws {
        name = String(path.split(separator: "/").last ?? "")
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { throw ServiceFailure.system("pipe2", errno) }
        let (reading, writing) = (ends[0], ends[1])
        output = unsafe memfd_create("output", UInt32(latchkey_memfd_cloexec))
        errorOutput = unsafe memfd_create("errors", UInt32(latchkey_memfd_cloexec))
        // Threads that write to a memfd at once overwrite each other: it isn't opened as files are (write(2), BUGS).
        for descriptor in [output, errorOutput] { _ = fcntl(descriptor, F_SETFL, O_APPEND) }
        input = Mutex(writing)
        defer { close(reading) }
        do {
            pid = try Spawn.process(
                path: path, arguments: arguments, environment: environment, input: reading, output: output,
                errorOutput: errorOutput, folder: folder, terminal: terminal)
        } catch {
            for descriptor in [writing, output, errorOutput] { close(descriptor) }
            throw error
        }
        Leash.shared.hold(process: pid)
        Thread.detachNewThread { [pid, name, errorOutput, exit, leavesWorkers] in
            var status: Int32 = 0
            while unsafe waitpid(pid, &status, 0) < 0 {
                // A status that was lost must not be read as a success.
                guard errno == EINTR else { fatalError("\(name), \(pid): its status went to another waiter") }
            }
            // What it started may outlive it in the same group; nothing of a test does.
            if !leavesWorkers.isSet { Foundation.kill(-pid, SIGKILL) }
            Leash.shared.free(process: pid)
            if !name.hasPrefix("latchkey"), [SIGTRAP, SIGSEGV, SIGABRT, SIGBUS].contains(status & 0x7f) {
                // A service's own fault, which its test may not look at. (Tests end our own programs so, on purpose.)
                let words = String(decoding: Self.contents(of: errorOutput).suffix(4096), as: UTF8.self)
                FileHandle.standardError.write(Data("\(name) was ended by signal \(status & 0x7f): \(words)\n".utf8))
            }
            exit.record(
                status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f, leavingCore: status & 0x80 != 0)
        }
    }

    deinit {
        kill()
        _ = exit.wait(until: Date(timeIntervalSinceNow: 10))
        closeInput()
        close(output)
        close(errorOutput)
    }

    // MARK: - Talking to it

    /// Writes to its standard input, on a thread of its own, then closes it.
    public func send(_ bytes: [UInt8]) {
        let descriptor = input.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
        guard descriptor >= 0 else { return }
        guard !bytes.isEmpty else {
            close(descriptor)
            return
        }
        Thread.detachNewThread {
            Self.writeAll(bytes, to: descriptor)
            close(descriptor)
        }
    }

    /// Writes to its standard input and leaves it open.
    public func type(_ text: String) {
        input.withLock { descriptor in
            if descriptor >= 0 { Self.writeAll(Array(text.utf8), to: descriptor) }
        }
    }

    public func closeInput() {
        input.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// A program that doesn't read to the end is not an error; SIGPIPE stays pending in this thread only.
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
        var blocked = sigset_t()
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, nil)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    // MARK: - What it said so far

    public var outputSoFar: String { String(decoding: Self.contents(of: output), as: UTF8.self) }
    public var errorsSoFar: String { String(decoding: Self.contents(of: errorOutput), as: UTF8.self) }

    private static func contents(of descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe pread(descriptor, &chunk, chunk.count, bytes.count)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }

    // MARK: - Its end

    public var isRunning: Bool { exit.status == nil }

    /// Sends a signal to the program alone, not to what it started. With SIGSTOP it has stopped once this returns: until
    /// one thread has taken the signal, which a busy machine delays, the others go on.
    public func signal(_ number: Int32) {
        if isRunning { Foundation.kill(pid, number) }
        while number == SIGSTOP && isRunning && !isStopped { usleep(1000) }
    }

    /// Whether each thread is stopped, or stopped for who traces it (proc_pid_stat(5)).
    private var isStopped: Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.allSatisfy { thread in
            // After the name in brackets; a thread that has gone has no status.
            let status = try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/stat", encoding: .utf8)
            let state = status?.split(separator: ")").last?.first { $0 != " " }
            return [nil, "T", "t"].contains(state)
        }
    }

    /// Kills the program and all that it started.
    public func kill() {
        if isRunning || leavesWorkers.isSet { Foundation.kill(-pid, SIGKILL) }
    }

    /// Kills the program alone: what it started goes on, until this value dies.
    public func killAlone() {
        leavesWorkers.set()
        signal(SIGKILL)
    }

    /// The process that works for this one, or this one itself.
    public var workingPID: Int32 {
        let children = try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        for child in (children ?? "").split(separator: " ") {
            let arguments = try? String(contentsOfFile: "/proc/\(child)/cmdline", encoding: .utf8)
            if arguments?.hasPrefix("latchkey-worker ") == true { return Int32(child) ?? pid }
        }
        return pid
    }

    /// Waits for its end and returns what it said; past the time it is killed and an error thrown.
    @discardableResult
    public func finish(within timeout: Duration = .seconds(300)) async throws -> ProgramRun {
        closeInput()
        let limit = Date(
            timeIntervalSinceNow: Double(timeout.components.seconds) + Double(timeout.components.attoseconds) / 1e18)
        let status = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [exit] in continuation.resume(returning: exit.wait(until: limit)) }
        }
        guard let status else {
            kill()
            throw ServiceFailure(
                "\(name) was still running after \(timeout); it said:\n\(outputSoFar)\n\(errorsSoFar)")
        }
        return ProgramRun(
            status: status, leftCore: exit.leftCore, output: Self.contents(of: output),
            errorOutput: Self.contents(of: errorOutput))
    }

    /// Asks it to end with SIGTERM (or another signal) and kills it when it doesn't.
    public func stop(_ number: Int32 = 15, within timeout: Duration = .seconds(5)) async {
        signal(number)
        // A stopped program (SIGSTOP) gets its signal only when it runs again.
        signal(SIGCONT)
        if (try? await finish(within: timeout)) == nil {
            _ = try? await finish(within: .seconds(5))
        }
    }

    /// Waits until a condition holds, while the program runs; it polls, because there is nothing to be told by.
    ///
    /// - Throws: `ServiceFailure`, with what the program said, when it ended first or the time passed.
    public func wait(
        for what: String, within timeout: Duration = .seconds(120), until condition: () async throws -> Bool
    ) async throws {
        let limit = ContinuousClock.now + timeout
        let start = ContinuousClock.now
        while true {
            // Looked at first: what a program says last is there when it has ended.
            let wasRunning = isRunning
            if try await condition() { return }
            guard wasRunning, ContinuousClock.now < limit else {
                let end = wasRunning ? "not within \(timeout)" : "ended with status \(exit.status ?? -1)"
                throw ServiceFailure("\(name): \(what): \(end); it said:\n\(outputSoFar)\n\(errorsSoFar)")
            }
            // Many conditions start a program.
            try await Task.sleep(for: start.duration(to: .now) < .seconds(1) ? .milliseconds(10) : .milliseconds(50))
        }
    }
}

/// Set once, from any thread.
private final class LockedFlag: Sendable {
    private let flag = Mutex(false)

    var isSet: Bool { flag.withLock { $0 } }
    func set() { flag.withLock { $0 = true } }
}

/// The exit status of a program, once there is one.
private final class Exit: @unchecked Sendable {
    // The condition guards the variables.
    private let condition = NSCondition()
    private var recorded: Int32?
    private var hasLeftCore = false

    var status: Int32? { condition.withLock { recorded } }
    var leftCore: Bool { condition.withLock { hasLeftCore } }

    func record(_ status: Int32, leavingCore: Bool) {
        condition.withLock {
            recorded = status
            hasLeftCore = leavingCore
            condition.broadcast()
        }
    }

    func wait(until limit: Date) -> Int32? {
        condition.withLock {
            while recorded == nil {
                guard condition.wait(until: limit) else { break }
            }
            return recorded
        }
    }
}

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
