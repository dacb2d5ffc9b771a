internal import CLatchkeyLinux
internal import Glibc

/// The role of a process that Latchkey starts for itself: the same program again.
///
/// The role is the first word of the process's name, argv[0], which process listings show. The numbers of the descriptors
/// and processes that it needs follow. A user who starts the program under such a name only gets the role's work with
/// their own rights.
enum ProcessRole: String {
    /// Does a command's work in its starter's place: see `WorkerProcess`.
    case worker = "latchkey-worker"
    /// Stands between `run --mask` and the person's program: see `ChildMonitor`.
    case monitor = "latchkey-monitor"
    /// Starts the service of `keyring run` and no other process: see `KeyringRunCommand`.
    case keyringStarter = "latchkey-keyring-starter"
    /// The service of `keyring run`.
    case keyringService = "latchkey-keyring-session"
    /// Waits beside dbus-daemon: see `PrivateBus`.
    case busStarter = "latchkey-bus-starter"

    /// This process's role, with its numbers; `nil` where it runs the command of a person or of another program.
    static let current: (role: ProcessRole, numbers: [Int32])? = {
        guard let name = ProgramArguments.bytes(0).flatMap({ String(validating: $0, as: UTF8.self) }) else {
            return nil
        }
        let words = name.split(separator: " ")
        guard let word = words.first, let role = ProcessRole(rawValue: String(word)) else { return nil }
        let numbers = words.dropFirst().compactMap { Int32($0) }.filter { $0 >= 0 }
        return numbers.count == role.numberCount && words.count == numbers.count + 1 ? (role, numbers) : nil
    }()

    /// The numbers of the process's name, where it has this role.
    static func numbers(as role: ProcessRole) -> [Int32]? { current.flatMap { $0.role == role ? $0.numbers : nil } }

    private var numberCount: Int {
        switch self {
        case .worker, .monitor, .busStarter: 1
        case .keyringStarter, .keyringService: 2
        }
    }

    /// The name of a process with this role.
    func name(_ numbers: Int32...) -> String {
        ([rawValue] + numbers.map { String($0) }).joined(separator: " ")
    }

    /// Begins what this process's role asks for: a role without a command of its own never returns. To be called first,
    /// on the main thread.
    static func begin() {
        guard let current else { return }
        // The name for listings and pgrep(1), which would show `exe` otherwise.
        _ = unsafe "latchkey".withCString { latchkey_prctl(PR_SET_NAME, UInt(bitPattern: $0)) }
        switch current {
        case (.keyringService, _): break
        case (.worker, let numbers): WorkerProcess.begin(starter: numbers[0])
        case (.monitor, let numbers): ChildMonitor.run(report: numbers[0])
        case (.keyringStarter, let numbers): KeyringRunCommand.startService(report: numbers[0], program: numbers[1])
        case (.busStarter, let numbers): PrivateBus.keep(starter: numbers[0])
        }
    }
}

/// This program's own file.
enum ThisProgram {
    /// The file that this process was started from (proc(5)), to start it again. So two versions never work together, even
    /// after an upgrade has replaced the file at the path.
    static let file = "/proc/self/exe"

    /// The path of that file; `nil` if it is unknown.
    static var path: String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe readlink(file, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// The hint for a system without /proc.
    static let mountingProc: LogMessage = "mount the proc file system: /proc has to be there"

    /// Why it can't be started once more.
    static func notStarted(_ error: SystemErrorNumber) -> CommandFailure {
        CommandFailure(
            .unavailable, "program.not-started", "can't start a worker process: \(error)",
            hint: error.number == ENOENT
                ? Self.mountingProc : "raise the number of processes (ulimit -u)")
    }
}
