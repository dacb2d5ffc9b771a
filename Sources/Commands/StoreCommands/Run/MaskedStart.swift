internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyLog
internal import LatchkeyTerminal

/// A program that was started by way of its monitor, and where its output comes from.
///
/// Where the person's terminal is both its input and its output, the program has a terminal of its own. Elsewhere it
/// stays in our job, as in a pipeline, with our standard input: only its output goes through us, by a terminal where
/// ours is one and by a pipe where it isn't.
struct MaskedStart: ~Copyable {
    /// Whether the program has a terminal of its own, for input too.
    static let leadsSession = isatty(0) == 1 && isatty(1) == 1
    private(set) var terminal: ChildTerminal?
    private(set) var streams: [MaskedStream] = []
    private(set) var monitor: pid_t = 0
    /// What the monitor tells, or -1 after its end.
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
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a session's leader opens becomes the session's.
        if Self.leadsSession, let terminal {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal.path, O_RDWR, 0)
        }
        var ends: [Int32] = []
        defer { for end in ends { close(end) } }
        for number in [Int32(1), 2] {
            if areTerminals[Int(number)], let terminal {
                unsafe posix_spawn_file_actions_adddup2(&actions, terminal.device, number)
                if !streams.contains(where: { $0.source == terminal.controller }) {
                    streams.append(MaskedStream(from: terminal.controller, isPipe: false, to: number))
                }
            } else if number == 2, !areTerminals[1], Self.isSame(1, 2) {
                // One pipe keeps the order of what is written.
                unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
            } else {
                let pipe = try Self.pipe(for: arguments[0])
                ends.append(pipe.writing)
                streams.append(MaskedStream(from: pipe.reading, isPipe: true, to: number))
                unsafe posix_spawn_file_actions_adddup2(&actions, pipe.writing, number)
            }
        }
        let told = try Self.pipe(for: arguments[0])
        report = told.reading
        // The monitor inherits it; its own end is closed here with the others.
        ends.append(told.writing)
        _ = fcntl(told.writing, F_SETFD, 0)
        let words = ChildMonitor.arguments(report: told.writing, files: files, path: path, arguments)
        let number = unsafe Self.start(&monitor, words, &actions, environment)
        terminal?.closeDevice()
        guard number == 0 else { throw RunRequest.notStarted(arguments[0], number) }
    }

    mutating func closeReport() {
        close(report)
        report = -1
    }

    @unsafe private static func start(
        _ monitor: inout pid_t, _ words: [String], _ actions: inout posix_spawn_file_actions_t,
        _ environment: borrowing ChildEnvironmentSink
    ) -> Int32 {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Threads of the concurrency runtime hold signals back, and the program would inherit that.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | (leadsSession ? LATCHKEY_SPAWN_SETSID : 0)))
        let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        return unsafe environment.withEnvironment { variables in
            unsafe posix_spawn(&monitor, "/proc/self/exe", &actions, &attributes, arguments, variables)
        }
    }

    /// Whether two descriptors are of one file, such as after `2>&1`.
    private static func isSame(_ first: Int32, _ second: Int32) -> Bool {
        var (left, right) = (stat(), stat())
        return unsafe fstat(first, &left) == 0 && fstat(second, &right) == 0
            && left.st_dev == right.st_dev && left.st_ino == right.st_ino
    }

    private static func noTerminal(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .unavailable, "run.not-started", "no terminal for the program can be made (errno \(number))",
            hint: "send the program's output through a pipe, or leave --mask out", exitStatus: .programNotStarted)
    }

    private static func pipe(for program: String) throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw RunRequest.notStarted(program, errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
