internal import CLatchkeyLinux
package import Glibc

/// A program that this process started and waits for (posix_spawn(3), waitpid(2)).
package struct ChildProcess: Sendable {
    /// An action on a descriptor in the child, before the program starts.
    package enum Descriptor: Sendable {
        case opens(Int32, path: String, flags: Int32)
        case copies(Int32, to: Int32)
        /// This descriptor and all above it are closed.
        case closes(from: Int32)
        /// The child's process group becomes the one in front at this terminal.
        case leadsTerminal(Int32)
    }

    /// In what the child differs from this process: it inherits everything else.
    package struct Settings {
        package var descriptors: [Descriptor] = []
        /// The signals that are blocked in the child; `nil` for those of the calling thread.
        package var blockedSignals: [Int32]?
        /// Signals that have their default effect in the child, even where this process ignores them.
        package var defaultSignals: [Int32] = []
        package var leadsSession = false
        package var leadsGroup = false
        fileprivate var isDetached = false

        package init() {}

        /// For a program that has nothing to read or to write to.
        package static var quiet: Settings {
            var settings = Settings()
            settings.descriptors = (0...2).map { .opens($0, path: "/dev/null", flags: O_RDWR) }
            return settings
        }

        /// For an independent program, which may outlive this process. The program has a separate session, the default
        /// effect of each signal, and none of our descriptors.
        ///
        /// - Parameter input: its standard input, none of the standard descriptors; `/dev/null` for `nil`.
        package static func detached(input: Int32?) -> Settings {
            var settings = Settings()
            settings.descriptors =
                [input.map { .copies($0, to: 0) } ?? .opens(0, path: "/dev/null", flags: O_RDONLY)]
                + [1, 2].map { .opens($0, path: "/dev/null", flags: O_WRONLY) } + [.closes(from: 3)]
            settings.blockedSignals = []
            settings.defaultSignals = Array(1...64)
            settings.leadsSession = true
            settings.isDetached = true
            return settings
        }
    }

    package let processID: Int32
    private let isDetached: Bool

    /// Starts a program. SIGCHLD gets its default effect, because the kernel keeps no status to wait for where a
    /// starter has it ignored; a detached program's status may be lost, because a library can't own SIGCHLD.
    ///
    /// - Parameters:
    ///   - arguments: the program's own name first.
    ///   - index: the first of this process's own arguments that follow; `nil` for none.
    ///   - environment: pointers to variables, the last one nil; `nil` for this process's own.
    @unsafe package init(
        _ path: String, _ arguments: [String], ownFrom index: Int? = nil,
        environment: UnsafePointer<UnsafeMutablePointer<CChar>?>? = nil, _ settings: Settings = Settings()
    ) throws(SystemErrorNumber) {
        if !settings.isDetached { signal(SIGCHLD, SIG_DFL) }
        let texts = unsafe arguments.map { unsafe strdup($0) }
        defer { unsafe texts.forEach { unsafe free($0) } }
        let all = unsafe ProgramArguments.pointers
        let own = unsafe (min(index ?? all.count, all.count)..<all.count).map { unsafe all[$0] }
        var actions = unsafe posix_spawn_file_actions_t()
        try Self.check(unsafe posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in settings.descriptors { try unsafe Self.add(descriptor, to: &actions) }
        var attributes = posix_spawnattr_t()
        try Self.check(unsafe posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var flags: Int32 = settings.leadsSession ? LATCHKEY_SPAWN_SETSID : 0
        if let blocked = settings.blockedSignals {
            var mask = sigset_t(of: blocked)
            try Self.check(unsafe posix_spawnattr_setsigmask(&attributes, &mask))
            flags |= Int32(POSIX_SPAWN_SETSIGMASK)
        }
        if !settings.defaultSignals.isEmpty {
            var signals = sigset_t(of: settings.defaultSignals)
            try Self.check(unsafe posix_spawnattr_setsigdefault(&attributes, &signals))
            flags |= Int32(POSIX_SPAWN_SETSIGDEF)
        }
        if settings.leadsGroup {
            try Self.check(unsafe posix_spawnattr_setpgroup(&attributes, 0))
            flags |= Int32(POSIX_SPAWN_SETPGROUP)
        }
        try Self.check(unsafe posix_spawnattr_setflags(&attributes, Int16(flags)))
        var process: pid_t = 0
        try Self.check(
            unsafe posix_spawn(
                &process, path, &actions, &attributes, texts + own + [nil], environment ?? UnsafePointer(environ)))
        processID = process
        isDetached = settings.isDetached
    }

    private static func add(
        _ descriptor: Descriptor, to actions: inout posix_spawn_file_actions_t
    ) throws(SystemErrorNumber) {
        let number =
            switch descriptor {
            case .opens(let number, let path, let flags):
                unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0)
            case .copies(let source, let target): unsafe posix_spawn_file_actions_adddup2(&actions, source, target)
            case .closes(let first): unsafe latchkey_spawn_add_close_from(&actions, first)
            case .leadsTerminal(let terminal): unsafe latchkey_spawn_add_foreground(&actions, terminal)
            }
        try check(number)
    }

    private static func check(_ number: Int32) throws(SystemErrorNumber) {
        if number != 0 { throw SystemErrorNumber(number) }
    }

    // MARK: - Its end

    /// Waits for the end, or with WUNTRACED for a stop too, and returns the status (wait(2)).
    package func wait(_ options: Int32 = 0) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(processID, &status, options) < 0 {
            if errno == ECHILD && isDetached { break }
            precondition(errno == EINTR, "it has ended before")
        }
        return status
    }

    /// Waits for the end, and calls `body` while the process's number can't be another's yet.
    package func wait(beforeReaping body: () -> Void) -> Int32 {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        body()
        return wait()
    }

    /// The exit status that a shell reports for a status: 128 and the signal's number if a signal ended the process.
    package static func exitStatus(_ status: Int32) -> Int32 {
        let number = status & 0x7F
        return number == 0 ? status >> 8 & 0xFF : 128 + number
    }

    /// Ends this process as another one ended: by the same signal, or with the same exit status.
    package static func end(like status: Int32) -> Never {
        let number = status & 0x7F
        if number != 0 {
            signal(number, SIG_DFL)
            _ = kill(getpid(), number)
        }
        exit(exitStatus(status))
    }
}

/// The arguments of this process as the kernel handed them over, the program's name first.
///
/// `CommandLine.arguments` repairs invalid UTF-8. `CommandLine` is empty without /proc, and if a preloaded library sets a
/// variable before Swift looks for the arguments; gperftools' allocator does.
package enum ProgramArguments {
    /// A null pointer follows the last one.
    package static var pointers: UnsafeBufferPointer<UnsafeMutablePointer<CChar>?> {
        var count: Int32 = 0
        let start = unsafe latchkey_arguments(&count)
        return unsafe UnsafeBufferPointer(start: start, count: Int(count))
    }

    /// The bytes of an argument, or `nil` where there are fewer.
    package static func bytes(_ index: Int) -> [UInt8]? {
        let all = unsafe pointers
        guard index < all.count, let text = unsafe all[index] else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    /// The bytes of each argument, the program's name left out.
    package static func current() -> [[UInt8]] {
        unsafe pointers.indices.dropFirst().compactMap(bytes)
    }

    /// The last part of the path that the program was started by; empty where it was started without a name.
    package static var programName: [UInt8] {
        let path = bytes(0) ?? []
        return Array(path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
    }
}

extension sigset_t {
    /// The set of some signals (sigsetops(3)).
    package init(of numbers: [Int32]) {
        self.init()
        unsafe sigemptyset(&self)
        for number in numbers { unsafe sigaddset(&self, number) }
    }
}
