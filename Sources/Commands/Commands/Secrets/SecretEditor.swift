internal import CLatchkeyLinux
internal import Glibc

/// The person's editor, at a file in memory.
///
/// The file is in a folder of its own (0700) of a file system in memory, so that what editors put beside it, such as
/// vim's swap file, is there too, and goes with it. A descriptor without a name (memfd_create(2)) would send them to
/// /var/tmp with that.
struct SecretEditor {
    /// As the shell reads it, so that it may have arguments.
    private let command: String
    private let folder: String

    /// Throws if there is no editor, or no file system in memory.
    init(_ environment: ProgramEnvironment) throws(CommandFailure) {
        // The last two are what a system has for that, as crontab(1) and git take them.
        let usual = ["editor", "vi"].first { DetachedProgram.path(of: $0, in: environment["PATH"]) != nil }
        let commands = [environment["VISUAL"], environment["EDITOR"], usual].compactMap { $0 }
        // After a blank command, the shell would run the secret's file.
        guard let command = commands.first(where: { !$0.allSatisfy(\.isWhitespace) }) else {
            throw CommandFailure(
                .configuration, "editor.none",
                "no editor: VISUAL and EDITOR aren't set, and neither editor nor vi is installed",
                hint: "set EDITOR, as in: EDITOR=nano latchkey edit …")
        }
        let folders = [environment.runtimeDirectory, "/dev/shm"].compactMap { $0 }
        guard let folder = folders.first(where: Self.isInMemory) else {
            throw CommandFailure(
                .unavailable, "editor.no-memory", "no file system in memory to edit a secret in",
                hint: "mount a tmpfs at /dev/shm, or set XDG_RUNTIME_DIR to one")
        }
        self.command = command + Self.options(for: command, environment)
        self.folder = folder
    }

    /// Lets the person change a secret, and returns what they saved.
    func edit(_ secret: borrowing Secret<Password>, limit: Int) throws -> Secret<Password> {
        let own = try TemporaryFolder(in: folder, prefix: "latchkey-")
        let path = own.path + "/secret"
        try write(secret, to: path)
        SecretPrompt.restoreTerminal()
        let status = ChildProcess.exitStatus(try wait { try start(path) })
        guard status == 0 else {
            throw CommandFailure(
                .unavailable, "editor.failed", "the editor ended with status \(status), so nothing was stored",
                hint: status == 127
                    ? "set VISUAL or EDITOR to the command of an installed editor"
                    : "run `latchkey edit` again, or set VISUAL or EDITOR to another editor")
        }
        // The editor may have replaced the file.
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unusable(errno) }
        defer { close(descriptor) }
        return try SecretInput.readAll(from: descriptor, "the edited file", as: Password.self, limit: limit)
    }

    // MARK: - Surroundings

    private static func isInMemory(_ path: String) -> Bool {
        unsafe latchkey_is_in_memory(path) != 0 && access(path, W_OK | X_OK) == 0
    }

    /// The options that stop vim from storing text in the home directory: deleted or copied text, and from the beginning
    /// (`-n`) its swap file, which a person may have elsewhere.
    private static func options(for command: String, _ environment: ProgramEnvironment) -> String {
        let word = String(command.split(separator: " ").first ?? "")
        // Debian's `vi` and `editor` lead to a program such as vim.basic.
        let path = DetachedProgram.path(of: word, in: environment["PATH"]) ?? word
        let name = (FileSystem.resolving(path) ?? path).split(separator: "/").last ?? ""
        return name.hasPrefix("vim") || name == "nvim" ? " -n -c 'set viminfo= noundofile nobackup nowritebackup'" : ""
    }

    private func write(_ secret: borrowing Secret<Password>, to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { throw unusable(errno) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw unusable(errno) }
        var sink = FileDescriptorSecretSink(descriptor: descriptor)
        if let error = failure(FileDescriptorSecretSink.WriteFailure.self, of: try secret.pour(into: &sink)) {
            throw unusable(error.number)
        }
    }

    private func unusable(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .cannotWrite, "editor.file", "can't use the edited file: \(SystemErrorNumber(number))",
            hint: "set VISUAL or EDITOR to an editor that saves the file in its place")
    }

    // MARK: - The program

    /// The keyboard's signals are the editor's, as with system(3). SIGTERM and the terminal's end are too: this process
    /// goes on until the file is away.
    private func wait(_ start: () throws -> ChildProcess) throws -> Int32 {
        let former = Self.signals.map { signal($0, SIG_IGN) }
        defer { for (number, handler) in zip(Self.signals, former) { signal(number, handler) } }
        return try start().wait()
    }

    private static let signals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]

    private func start(_ path: String) throws -> ChildProcess {
        var settings = ChildProcess.Settings()
        settings.defaultSignals = Self.signals
        return try mapError(
            { (error: SystemErrorNumber) in
                CommandFailure(
                    .unavailable, "editor.failed", "can't start the editor: \(error)",
                    hint: "set EDITOR to a program")
            }, of: unsafe ChildProcess("/bin/sh", ["sh", "-c", command + " \"$1\"", "sh", path], settings))
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Other programs show text as text, and would damage other bytes on the way.
    var isText: Bool { withExposedBytes { (try? UTF8Span(validating: $0)) != nil } }

    var endsWithLineBreak: Bool { withExposedBytes { $0.count > 0 && $0[$0.count - 1] == 0x0A } }
}
