internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyDBus
internal import LatchkeyKeyringService

/// `latchkey keyring run`: this process becomes the user's program, which therefore has the terminal, the signals and
/// the exit status. In the background another process serves the vault on a bus until the program ends.
///
/// The service must not be the program's child, because a program may wait for all its children. So a process in
/// between starts the service. This process kills the process in between once the service is ready. If the service
/// fails, the process in between ends with the service's status.
enum KeyringRunCommand {
    private static let only = CommandOption.value(
        "--only", "SERVICE[/ACCOUNT]", repeats: true,
        help: "serve these items only, and read-only")
    private static let writable = CommandOption.flag("--writable", help: "allow changes to the items of --only")
    private static let addressVariable = "DBUS_SESSION_BUS_ADDRESS"

    static let command = Command(
        "keyring", "run", summary: "run a program with the vault as its keyring",
        operands: [.rest("COMMAND", help: "program and its arguments; write -- before them")],
        options: [only, writable],
        details: """
            keyring run needs dbus-daemon, but no desktop and no systemd, so it works in containers, in CI and over SSH. COMMAND gets the
            terminal, signals and exit status of latchkey. The bus and the keyring end with COMMAND. If the vault has a passphrase,
            Latchkey asks for it first. COMMAND can't write core dumps.

            COMMAND only finds the items of SERVICE, or of its ACCOUNT, if --only is set. It then doesn't get Latchkey's variables
            and CREDENTIALS_DIRECTORY. --only prevents accidents, not attacks: a program of yours could still open the vault itself. To
            confine it, use a container or bubblewrap.
            """,
        examples: [
            "latchkey keyring run -- gh auth login",
            "latchkey keyring run --only gh:github.com -- gh api user",
        ],
        runs: { _ in .elsewhere(become) }, startsPrograms: true
    ) { arguments, context in
        guard let descriptors = ProcessRole.numbers(as: .keyringService),
            descriptors.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 })
        else {
            throw CommandFailure(
                .usage, "keyring.not-started", "this is a process that Latchkey starts for itself",
                hint: "latchkey keyring run -- COMMAND")
        }
        let (report, program) = (descriptors[0], descriptors[1])
        let names = arguments.all(only)
        let isWritable = arguments.has(writable)
        guard !isWritable || !names.isEmpty else {
            throw CommandFailure(
                .usage, "usage.missing-operand", "--writable needs --only",
                hint: "remove --writable (the whole keyring is writable), or add --only SERVICE")
        }
        try context.requireVault()
        // The question ends with the process that is to become the program.
        try atEnd(of: program) { kill(getpid(), SIGTERM) }
        // No program waits for the keyring yet, and none starts if the vault stays locked.
        let vault = try await context.settings.askingNoKeyring.openVault()
        // Libraries wait without end for threads that the system refuses.
        alarm(60)
        let bus = try PrivateBus.make(context.environment, deadline: context.deadline)
        let scope =
            names.isEmpty
            ? nil : ItemScope(names, keys: names.compactMap(SecretReference.key(of:)), isWritable: isWritable)
        let service = try await context.startService(
            VaultSource(context, scope: scope, opened: vault), at: bus.address)
        if let owner = try await context.bus({ () async throws(BusFault) in try await service.own(replacing: false) }) {
            throw CommandFailure(.internalError, "internal.unexpected", "\(owner) already uses the new bus")
        }
        // A starter may have this process ignore SIGTERM: then this ends the service.
        try atEnd(of: program) { service.stop() }
        if let descriptor = arguments.descriptor(GlobalOptions.passphraseDescriptor) { leave(descriptor) }
        leaveTerminal(keepingErrors: arguments.value(GlobalOptions.logLevel) != nil)
        tell(bus.address, report)
        alarm(0)
        let status = try await context.end(of: service)
        _ = consume bus
        return status
    }

    /// - Parameter program: a process (pidfd_open(2)).
    private static func atEnd(of program: Int32, _ body: @escaping @Sendable () -> Void) throws(CommandFailure) {
        try mapError(
            ThisProgram.notStarted,
            of: SystemThread.detach {
                var ended = pollfd(fd: program, events: Int16(POLLIN), revents: 0)
                while unsafe poll(&ended, 1, -1) < 0 && errno == EINTR {}
                body()
            })
    }

    // MARK: - In the process that becomes the person's program

    private static func become(_ arguments: ParsedArguments) throws(CommandFailure) -> Never {
        let words = arguments.operands
        let program = try RunRequest.path(of: words[0], in: ProgramEnvironment.current()["PATH"])
        let address = try bus()
        // The service has read it; from now on nothing that is started here gets it, and neither does the program.
        _ = try arguments.passedDescriptor(GlobalOptions.passphraseDescriptor)
        unsafe setenv(addressVariable, address, 1)
        if arguments.has(only) { forgetOwnVariables() }
        // Hardening has set it for this process.
        if ProgramEnvironment.current()["SWIFT_BACKTRACE"] == "enable=no" { unsafe unsetenv("SWIFT_BACKTRACE") }
        let pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        var none = sigset_t(of: [])
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        unsafe execv(program, pointers)
        throw RunRequest.notStarted(words[0], errno)
    }

    /// They say where the vault and its key are; a credential of systemd's may be that key.
    private static func forgetOwnVariables() {
        let environment = ProgramEnvironment.current()
        for name in environment.illegibleNames.union(environment.variables.keys)
        where name.hasPrefix("LATCHKEY_") || name == "CREDENTIALS_DIRECTORY" { unsafe unsetenv(name) }
    }

    /// Has a bus with the service, and returns its address. Ends this process as the service does where there is none.
    private static func bus() throws(CommandFailure) -> String {
        var ends: [Int32] = [-1, -1]
        let process = latchkey_pidfd_open(getpid())
        guard process >= 0, unsafe pipe(&ends) == 0 else {
            let number = errno
            throw CommandFailure(
                .unavailable, "program.not-started", "can't start the keyring: \(SystemErrorNumber(number))",
                hint: number == ENOSYS || number == EPERM
                    ? "use Linux 5.3 or later; in a sandbox, allow pidfd_open(2)"
                    : "raise the limit on open files: ulimit -n 4096")
        }
        // pidfd_open(2) sets it.
        _ = fcntl(process, F_SETFD, 0)
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        defer { close(ends[0]) }
        let between = try mapError(
            ThisProgram.notStarted,
            of: unsafe ChildProcess(
                ThisProgram.file, [ProcessRole.keyringStarter.name(ends[1], process)], ownFrom: 1))
        close(process)
        close(ends[1])
        if let address = text(from: ends[0]) {
            // Now the service is no longer a child of this process.
            kill(between.processID, SIGKILL)
            _ = between.wait()
            return address
        }
        ChildProcess.end(like: between.wait())
    }

    /// The bytes from a pipe until its end; `nil` for none.
    private static func text(from descriptor: Int32) -> String? {
        guard let bytes = try? DescriptorBytes.all(of: descriptor, limit: 4096), !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - In the process between

    /// - Parameters:
    ///   - report: where the service tells its bus's address.
    ///   - program: the process that the service ends with (pidfd_open(2)).
    static func startService(report: Int32, program: Int32) -> Never {
        let name = ProcessRole.keyringService.name(report, program)
        let process = mapError(
            { (error: SystemErrorNumber) -> Never in
                let failure = ThisProgram.notStarted(error)
                TerminalOutput(
                    program: LatchkeyGrammar.program, environment: .current(), withholding: .ofThisProcess
                ).report(failure)
                exit(ExitStatus(failure).rawValue)
            }, of: try unsafe ChildProcess(ThisProgram.file, [name], ownFrom: 1))
        // Its own end of the pipe says when the service has failed.
        close(report)
        close(program)
        ChildProcess.end(like: process.wait())
    }

    // MARK: - In the service

    /// Replaces the descriptor of the passphrase by `/dev/null`, under the number from the settings.
    private static func leave(_ descriptor: Int32) {
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard nothing >= 0, dup2(nothing, descriptor) == descriptor else {
            close(descriptor)
            return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        close(nothing)
    }

    /// Leaves the terminal and the pipes to the program. Otherwise a reader that waits for a pipe's end would wait for
    /// us.
    ///
    /// - Parameter keepingErrors: whether the user wants a log.
    private static func leaveTerminal(keepingErrors: Bool) {
        setsid()
        let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        for number in 0...(keepingErrors ? 1 : 2) as ClosedRange<Int32> { dup2(nothing, number) }
        close(nothing)
    }

    private static func tell(_ address: String, _ descriptor: Int32) {
        let text = Array(address.utf8)
        unsafe text.withUnsafeBytes { _ = unsafe write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
