internal import CLatchkeyLinux
internal import Glibc

/// A program that its monitor started, with the source of its output.
///
/// If the person's terminal is both input and output, the program has a separate terminal. Otherwise the program stays
/// in this job, as in a pipeline, with this process's standard input. Only its output goes through this process: by a
/// terminal if standard output is one, otherwise by a pipe.
struct MaskedStart: ~Copyable {
    /// Whether the program has a terminal of its own, for input too.
    static let leadsSession = isatty(0) == 1 && isatty(1) == 1
    private(set) var terminal: ChildTerminal?
    private(set) var streams: [MaskedStream] = []
    let monitor: ChildProcess
    /// The descriptor of the monitor's reports, or -1 after its end.
    private(set) var report: Int32 = -1

    init(
        _ path: String, _ arguments: [String], _ environment: borrowing ChildEnvironmentSink,
        _ files: [String: Int32]
    ) throws(CommandFailure) {
        let areTerminals = (0...2).map { isatty($0) == 1 }
        if let own = [Int32(1), 2].first(where: { areTerminals[Int($0)] }) {
            terminal = ChildTerminal(like: own, takesInput: Self.leadsSession)
            if terminal == nil { throw Self.noTerminal(errno) }
        }
        var settings = ChildProcess.Settings()
        settings.leadsSession = Self.leadsSession
        // The program would inherit the signals that threads of the concurrency runtime block.
        settings.blockedSignals = []
        // The first terminal that a session's leader opens becomes the session's.
        if Self.leadsSession, let terminal {
            settings.descriptors.append(.opens(0, path: terminal.path, flags: O_RDWR))
        }
        var ends: [Int32] = []
        defer { for end in ends { close(end) } }
        for number in [Int32(1), 2] {
            if areTerminals[Int(number)], let terminal {
                settings.descriptors.append(.copies(terminal.device, to: number))
                if !streams.contains(where: { $0.source == terminal.controller }) {
                    streams.append(MaskedStream(from: terminal.controller, isPipe: false, to: number))
                }
            } else if number == 2, !areTerminals[1], Self.isSame(1, 2) {
                // One pipe keeps the order of what is written.
                settings.descriptors.append(.copies(1, to: 2))
            } else {
                let pipe = try Self.pipe(for: arguments[0])
                ends.append(pipe.writing)
                streams.append(MaskedStream(from: pipe.reading, isPipe: true, to: number))
                settings.descriptors.append(.copies(pipe.writing, to: number))
            }
        }
        // Another descriptor of the same output, such as bash's BASH_XTRACEFD after `exec 9>&1`.
        for number in Self.openDescriptors {
            guard let own = [Int32(1), 2].first(where: { Self.isSame($0, number) }) else { continue }
            settings.descriptors.append(.copies(own, to: number))
        }
        let told = try Self.pipe(for: arguments[0])
        report = told.reading
        // The monitor inherits it; its own end is closed here with the others.
        ends.append(told.writing)
        _ = fcntl(told.writing, F_SETFD, 0)
        let words = ChildMonitor.arguments(report: told.writing, files: files, path: path, arguments)
        let started = unsafe environment.withEnvironment { variables in
            Result { () throws(SystemErrorNumber) in
                try unsafe ChildProcess(ThisProgram.file, words, environment: variables, settings)
            }
        }
        terminal?.closeDevice()
        monitor = try mapError(
            { (error: SystemErrorNumber) in
                // The monitor's arguments and variables are the program's.
                error.number == E2BIG
                    ? RunRequest.notStarted(arguments[0], error.number) : ThisProgram.notStarted(error)
            }, of: started.get())
    }

    mutating func closeReport() {
        close(report)
        report = -1
    }

    /// The descriptors that the program would inherit besides its standard streams.
    private static var openDescriptors: [Int32] {
        let names = (try? FileSystem.names(in: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { $0 > 2 && fcntl($0, F_GETFD) == 0 }
    }

    /// Whether two descriptors are of one file, such as after `2>&1`.
    private static func isSame(_ first: Int32, _ second: Int32) -> Bool {
        var (left, right) = (stat(), stat())
        return unsafe fstat(first, &left) == 0 && fstat(second, &right) == 0
            && left.st_dev == right.st_dev && left.st_ino == right.st_ino
            // A closed one was opened the wrong way.
            && fcntl(first, F_GETFL) & O_ACCMODE == fcntl(second, F_GETFL) & O_ACCMODE
    }

    private static func noTerminal(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .unavailable, "run.not-started", "can't make a terminal for the program: \(SystemErrorNumber(number))",
            hint: "pipe the program's output, or remove --mask", exitStatus: .programNotStarted)
    }

    private static func pipe(for program: String) throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        try mapError(
            { (error: SystemErrorNumber) in RunRequest.notStarted(program, error.number) }, of: DescriptorBytes.pipe())
    }
}
