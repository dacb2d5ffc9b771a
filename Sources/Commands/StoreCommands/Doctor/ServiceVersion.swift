internal import Glibc
internal import LatchkeyLog

/// Which version a keyring service has. The services don't tell over the bus, so the program is asked that the
/// service's process was started from.
enum ServiceVersion {
    /// The version of the program that the process runs.
    case running(LoggableText)
    /// The process can't be looked at, or runs a file that was replaced since: the version of what is installed now.
    case installed(LoggableText)
    case unknown

    /// What the kernel calls the process (15 bytes at most), and the program that it was started from.
    private static let programs: [(name: String, path: String)] = [
        ("gnome-keyring-d", "/usr/bin/gnome-keyring-daemon"), ("keepassxc", "/usr/bin/keepassxc"),
        ("kwalletd5", "/usr/bin/kwalletd5"), ("kwalletd6", "/usr/bin/kwalletd6"),
        ("ksecretd", "/usr/bin/ksecretd"),
    ]

    /// Asks the program of a process: one of those that are known, which no user but root could have changed, for the
    /// first line that it prints for `--version`, up to 80 bytes and two seconds.
    ///
    /// - Parameters:
    ///   - identifier: the process that owns the service's name on the bus, where the bus tells.
    ///   - name: what the kernel calls it.
    static func find(process identifier: Int32?, name: String?) -> ServiceVersion {
        if let path = identifier.flatMap(executable), programs.contains(where: { $0.path == path }),
            let version = version(of: path)
        {
            return .running(version)
        }
        if let path = programs.first(where: { $0.name == name })?.path, let version = version(of: path) {
            return .installed(version)
        }
        return .unknown
    }

    /// proc(5), `/proc/pid/exe`: readable where the process may be traced, so not of one with capabilities; with
    /// ` (deleted)` at its end for a file that is gone.
    private static func executable(of identifier: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe readlink("/proc/\(identifier)/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }

    private static func version(of path: String) -> LoggableText? {
        guard belongsToRoot(path), let line = firstLine(of: path) else { return nil }
        return LoggableText(reviewed: "what a system program prints as its version", unredacted: line)
    }

    private static func belongsToRoot(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_uid == 0 && status.st_mode & 0o022 == 0
    }

    private static func firstLine(of path: String) -> String? {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = start(path, output: ends[1])
        close(ends[1])
        guard let child else { return nil }
        defer {
            kill(child, SIGKILL)
            while waitpid(child, nil, 0) < 0 && errno == EINTR {}
        }
        var wait = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&wait, 1, 2000) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 80)
        let count = unsafe Glibc.read(ends[0], &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).prefix { $0 != 0x0A }, as: UTF8.self)
    }

    private static func start(_ path: String, output: Int32) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // Nothing of this session: the program must not talk to the bus, or look for a display.
        let variables = ["PATH=/usr/bin:/bin", "QT_QPA_PLATFORM=offscreen", "LC_ALL=C"]
        var child: pid_t = 0
        let number = unsafe withStrings([path, "--version"]) { arguments in
            unsafe withStrings(variables) { variables in
                unsafe posix_spawn(&child, path, &actions, nil, arguments, variables)
            }
        }
        return number == 0 ? child : nil
    }

    private static func withStrings(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    }
}
