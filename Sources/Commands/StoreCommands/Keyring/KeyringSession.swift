internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySystem
internal import LatchkeyTerminal

/// `latchkey keyring run`: this process becomes the person's program, which so has the terminal, the signals and the
/// exit status. Beside it `latchkey-keyring` serves the vault on a bus, as long as that program runs.
///
/// The service is nobody's child then: a program may wait for all of its own. So a process in between starts it, which is
/// ended when it serves, or ends as it does.
package enum KeyringSession {
    /// What the process in between, and the service, are called in their own arguments. The descriptors follow: a pipe
    /// for the bus's address, and the process that the service ends with (pidfd_open(2)).
    private static let (starter, service) = ("latchkey-keyring-starter", "latchkey-keyring-session")
    private static let addressVariable = "DBUS_SESSION_BUS_ADDRESS"

    static func run(_ path: String, _ arguments: ParsedArguments) throws(CommandFailure) -> Never {
        let words = arguments.operands
        let program = try RunRequest.path(of: words[0], in: ProgramEnvironment.current()["PATH"])
        let address = try bus(path)
        unsafe setenv(addressVariable, address, 1)
        if arguments.has(KeyringDefinitions.only) { forgetOwnVariables() }
        let pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        unsafe execv(program, pointers)
        throw RunRequest.notStarted(words[0], errno)
    }

    /// They say where the vault and its key are; a credential of systemd's may be that key.
    private static func forgetOwnVariables() {
        var names: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let name = unsafe String(
                decoding: UnsafeRawBufferPointer(start: entry, count: strcspn(entry, "=")), as: UTF8.self)
            if name.hasPrefix("LATCHKEY_") || name == "CREDENTIALS_DIRECTORY" { names.append(name) }
            unsafe next += 1
        }
        for name in names { unsafe unsetenv(name) }
    }

    /// Has a bus with the service, and returns its address. Ends this process as the service does where there is none.
    private static func bus(_ path: String) throws(CommandFailure) -> String {
        var ends: [Int32] = [-1, -1]
        let process = latchkey_pidfd_open(getpid())
        guard process >= 0, unsafe pipe(&ends) == 0 else {
            throw CommandFailure(
                .unavailable, "program.not-started", "latchkey-keyring can't be started (errno \(errno))",
                hint: "raise the number of open files (ulimit -n)")
        }
        // pidfd_open(2) sets it.
        _ = fcntl(process, F_SETFD, 0)
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        defer { close(ends[0]) }
        let between = try mapError(
            { (error: SystemErrorNumber) in
                CommandFailure(
                    .unavailable, "program.not-started", "latchkey-keyring can't be started (errno \(error.number))")
            }, of: unsafe ChildProcess(path, ["\(starter) \(ends[1]) \(process)"], ownFrom: 1))
        close(process)
        close(ends[1])
        if let address = text(from: ends[0]) {
            // What it started is nobody's child now.
            kill(between.processID, SIGKILL)
            _ = between.wait()
            return address
        }
        ChildProcess.end(like: between.wait())
    }

    /// What comes through a pipe before it is closed; `nil` for nothing.
    private static func text(from descriptor: Int32) -> String? {
        guard let bytes = try? DescriptorBytes.all(of: descriptor, limit: 4096), !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - In latchkey-keyring

    /// In a process that was started to start the service it doesn't return. To be called first.
    package static func startIfAsked() {
        guard let descriptors = descriptors(after: starter), let path = ThisProgram.path else { return }
        let name = "\(service) \(descriptors.report) \(descriptors.program)"
        guard let process = try? unsafe ChildProcess(path, [name], ownFrom: 1) else {
            exit(ExitStatus.unavailable.rawValue)
        }
        // Its own end of the pipe says when the service has failed.
        close(descriptors.report)
        close(descriptors.program)
        ChildProcess.end(like: process.wait())
    }

    /// The descriptors that the service was started with; `nil` elsewhere.
    package static func serviceDescriptors() -> (report: Int32, program: Int32)? { descriptors(after: service) }

    private static func descriptors(after name: String) -> (report: Int32, program: Int32)? {
        guard let own = unsafe CommandLine.unsafeArgv.pointee, let text = unsafe String(validatingCString: own) else {
            return nil
        }
        let words = text.split(separator: " ")
        guard words.count == 3, words[0] == name, let report = Int32(words[1]), let program = Int32(words[2]) else {
            return nil
        }
        return (report, program)
    }
}
