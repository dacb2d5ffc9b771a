internal import CLatchkeyLinux
internal import Glibc

/// Runs beside a program and shows its output with the secrets replaced.
struct MaskedProgram: ~Copyable {
    private let mask: SecretMask
    private var start: MaskedStart
    private let signals: Int32
    /// The person's terminal, where the program has one of its own.
    private var keyboard: PassedTerminal?
    /// Typed bytes that the program hasn't read yet.
    private var typed: ArraySlice<UInt8> = []
    /// The program's number after the monitor's report, and the signals that arrived before.
    private var program: pid_t = 0
    private var early: [Int32] = []
    /// How the program ended (wait(2)), once it has.
    private var status: Int32?
    /// When a signal last asked for the end.
    private var askedToEnd: ContinuousClock.Instant?

    /// Runs a program, and ends this process as it does. Returns when it can't be started, or its output isn't all where
    /// it should be.
    static func run(
        _ path: String, _ arguments: [String], _ environment: borrowing ChildEnvironmentSink, _ files: [String: Int32],
        _ mask: consuming SecretMask
    ) -> CommandFailure {
        // Before the program starts: without a pipe it would be left alone.
        guard let signals = RelayedSignals.open(hasTerminal: MaskedStart.leadsSession) else {
            return RunRequest.notStarted(arguments[0], errno)
        }
        let start: MaskedStart
        do {
            start = try MaskedStart(path, arguments, environment, files)
        } catch {
            return error
        }
        // If the reader of the output ends, the program learns of it by its own pipe.
        signal(SIGPIPE, SIG_IGN)
        var running = MaskedProgram(mask: mask, start: start, signals: signals)
        if let number = running.relay() { return RunRequest.notStarted(arguments[0], number) }
        let status = running.status ?? 0
        // A failed output doesn't hide that a signal, such as Control-C's, ended the program.
        if status & 0x7F == 0, let failure = running.start.streams.compactMap(\.failure).first { return failure }
        ChildProcess.end(like: status)
    }

    private init(mask: consuming SecretMask, start: consuming MaskedStart, signals: Int32) {
        self.mask = mask
        keyboard = MaskedStart.leadsSession ? PassedTerminal(0) : nil
        self.start = start
        self.signals = signals
    }

    /// How long a terminal may take to hand on what was written before the end. Pipes hand it on at once.
    private static let patience: Int32 = 50
    /// The limit for a stream that other processes still write to after the program's end, and for a reader that takes
    /// nothing if a signal ended the program.
    private static let longestEnd: Duration = .seconds(1)
    /// How long after a signal a program's end counts as the signal's doing.
    private static let longestAnswer: Duration = .seconds(5)

    /// Returns an errno if the monitor can't start the program, and `nil` after the program's end.
    private mutating func relay() -> Int32? {
        keyboard?.enter()
        var end: ContinuousClock.Instant?
        while true {
            if status != nil && end == nil {
                end = .now + Self.longestEnd
                for stream in start.streams { stream.programEnded() }
            }
            if let end {
                let isLate = end < .now
                // All output of the program is shown. Later output of other programs is cut off.
                for stream in start.streams where isLate && !stream.isOwing { stream.finish(mask) }
                let isDone = start.streams.allSatisfy { !$0.isOpen && $0.queue.isEmpty }
                let isAsked = askedToEnd.map { end < $0 + Self.longestAnswer + Self.longestEnd } ?? false
                if isDone { break }
                if isLate && isAsked {
                    for stream in start.streams { stream.giveUp() }
                    break
                }
            }
            var wanted = wantedDescriptors()
            let ready = unsafe poll(&wanted, nfds_t(wanted.count), timeout)
            if ready == 0 && status != nil {
                for stream in start.streams where stream.queue.isEmpty { stream.finish(mask) }
            }
            let came = Set(wanted.filter { $0.revents != 0 }.map(\.fd))
            for stream in start.streams {
                if came.contains(stream.output) { stream.writeQueue() }
                if came.contains(stream.source) { stream.advance(mask) }
                stream.showWaiting(mask)
            }
            if came.contains(signals) { takeSignals() }
            if came.contains(start.report), let number = takeReport() { return number }
            if came.contains(0) { takeKeys() }
            passKeys()
            // A job that comes to the foreground while it runs isn't told so.
            keyboard?.enter()
        }
        keyboard?.leave()
        return nil
    }

    private func wantedDescriptors() -> [pollfd] {
        var wanted = [signals, start.report].filter { $0 >= 0 }.map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        for stream in start.streams {
            if !stream.queue.isEmpty {
                wanted.append(pollfd(fd: stream.output, events: Int16(POLLOUT), revents: 0))
            } else if stream.isOpen {
                wanted.append(pollfd(fd: stream.source, events: Int16(POLLIN), revents: 0))
            }
        }
        // Typing waits until the program in the foreground is known.
        guard keyboard?.isPassed == true, program != 0 else { return wanted }
        if typed.isEmpty {
            wanted.append(pollfd(fd: 0, events: Int16(POLLIN), revents: 0))
        } else if let terminal = start.terminal?.controller {
            wanted.append(pollfd(fd: terminal, events: Int16(POLLOUT), revents: 0))
        }
        return wanted
    }

    private var timeout: Int32 {
        if status != nil { return Self.patience }
        return keyboard?.isPassed == false || start.streams.contains { $0.isWaiting && $0.queue.isEmpty } ? 100 : -1
    }

    // MARK: - What comes

    private mutating func takeSignals() {
        for number in RelayedSignals.take(signals) {
            switch number {
            case SIGWINCH:
                start.terminal?.copySize()
                // The kernel signals the new terminal's session alone. Others got theirs before the size was copied.
                if !MaskedStart.leadsSession && start.terminal != nil { tell(number) }
            case SIGCONT: break
            // A signal that kills a starter also kills the program, even if the program ignores SIGTERM.
            case SIGTERM where WorkerProcess.hasLostStarter: tell(SIGKILL)
            case _ where number & RelayedSignals.isTypedBit != 0: if status != nil { askedToEnd = .now }
            default:
                if number == SIGTERM || status != nil { askedToEnd = .now }
                tell(number)
            }
        }
    }

    private mutating func tell(_ number: Int32) {
        if program == 0 {
            early.append(number)
        } else if status == nil {
            kill(program, number)
        }
    }

    /// Reads the monitor's reports: the program's number, or below 0 the errno of its start; then its states. Returns
    /// that errno.
    private mutating func takeReport() -> Int32? {
        var value: Int32 = 0
        let count = unsafe read(start.report, &value, MemoryLayout.size(ofValue: value))
        if count != MemoryLayout.size(ofValue: value) {
            if count < 0 && errno == EINTR { return nil }
            let ending = start.monitor.wait()
            start.closeReport()
            if status == nil {
                // A monitor that was killed leaves the program behind.
                if program != 0 { kill(program, SIGKILL) }
                status = ending
            }
        } else if program == 0 {
            if value < 0 { return -value }
            program = value
            for number in early { tell(number) }
        } else if value & 0x7F == 0x7F {
            stop()
        } else {
            status = value
        }
        return nil
    }

    /// The program was stopped by what was typed: this job is, too.
    private mutating func stop() {
        for stream in start.streams where stream.isOpen { stream.advance(mask) }
        keyboard?.leave()
        RelayedSignals.stopJob()
        keyboard?.enter()
        start.terminal?.copySize()
        kill(start.monitor.processID, SIGCONT)
    }

    private mutating func takeKeys() {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe read(0, &bytes, bytes.count)
        if count > 0 {
            typed = bytes[..<count]
            // As if the program were in this job: a script that started us ends with it.
            let signals = typed.compactMap { start.terminal?.signal(of: $0, to: program) }
            for number in Set(signals) { RelayedSignals.sendToJob(number) }
        } else if count == 0 || errno != EINTR {
            // The terminal was closed.
            keyboard = nil
        }
    }

    private mutating func passKeys() {
        guard !typed.isEmpty, let terminal = start.terminal?.controller else { return }
        let count = unsafe typed.withUnsafeBytes { unsafe write(terminal, $0.baseAddress, $0.count) }
        if count > 0 {
            typed = typed.dropFirst(count)
        } else if count < 0 && errno != EAGAIN && errno != EINTR {
            typed = []
        }
    }
}

/// The signals that come to this process while a program runs beside it, as bytes of a pipe: what it waits for beside
/// the program's output.
enum RelayedSignals {
    // A signal handler can reach nothing but globals. The descriptor is written once, before the handlers are set.
    private nonisolated(unsafe) static var writingEnd: Int32 = -1
    private nonisolated(unsafe) static var takesFromKeyboard = false

    /// Marks a typed signal that the program got as well.
    static let isTypedBit: Int32 = 0x80

    /// Those that are the program's, as if it were in our place.
    static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    /// Returns the pipe's reading end, or `nil` without a free descriptor. Signals have their default effects in programs
    /// that are started later. Call it once.
    ///
    /// - Parameter hasTerminal: whether the program has a separate terminal. Otherwise it is in our process group, so
    ///   that it gets the keyboard's input anyway, and Ctrl-Z stops both.
    static func open(hasTerminal: Bool) -> Int32? {
        guard let ends = try? DescriptorBytes.pipe() else { return nil }
        // A handler must never wait, and neither must a look at what has come.
        for end in [ends.reading, ends.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        unsafe (writingEnd, takesFromKeyboard) = (ends.writing, hasTerminal)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
            // SI_KERNEL of sigaction(2).
            let isTyped = unsafe information?.pointee.si_code == 0x80 && number != SIGHUP && number != SIGWINCH
            let isProgramsToo = unsafe isTyped && !RelayedSignals.takesFromKeyboard
            // write is async-signal-safe (signal-safety(7)).
            var byte = UInt8(truncatingIfNeeded: number | (isProgramsToo ? RelayedSignals.isTypedBit : 0))
            unsafe write(RelayedSignals.writingEnd, &byte, 1)
        }
        action.sa_flags = SA_RESTART | SA_SIGINFO
        for number in forwarded + [SIGWINCH, SIGCONT] + (hasTerminal ? [SIGTSTP] : []) {
            if !SignalEffect.isIgnored(number) { unsafe sigaction(number, &action, nil) }
        }
        var none = sigset_t(of: [])
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        return ends.reading
    }

    /// The signals so far.
    static func take(_ readingEnd: Int32) -> [Int32] {
        var numbers = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(readingEnd, &numbers, numbers.count)
        return numbers.prefix(max(0, count)).map { Int32($0) }
    }

    /// Stops this process with its whole job, like Ctrl-Z, and returns when it is continued. If no process could
    /// continue it, the kernel doesn't stop it.
    static func stopJob() {
        sendToJob(SIGTSTP)
        var former = sigaction()
        unsafe sigaction(SIGTSTP, nil, &former)
        // Another thread might get the job's signal later, so this thread gets a separate one.
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        unsafe sigaction(SIGTSTP, &former, nil)
    }

    /// Sends a signal to all of this job but this process.
    static func sendToJob(_ number: Int32) {
        var former = sigaction()
        unsafe sigaction(number, nil, &former)
        signal(number, SIG_IGN)
        kill(0, number)
        unsafe sigaction(number, &former, nil)
    }
}
