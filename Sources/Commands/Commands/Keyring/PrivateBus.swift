internal import CLatchkeyLinux
internal import Glibc
internal import Synchronization

/// A message bus of this process's own (dbus-daemon(1)), which ends when the value or the process does.
///
/// It starts no programs on demand: what isn't served on it isn't there.
struct PrivateBus: ~Copyable {
    /// As in DBUS_SESSION_BUS_ADDRESS.
    let address: String
    private let folder: TemporaryFolder
    private let process: BusProcess

    private init(address: String, folder: consuming TemporaryFolder, process: BusProcess) {
        self.address = address
        self.folder = folder
        self.process = process
    }

    /// - Parameter deadline: until when dbus-daemon has to say where it listens.
    static func make(
        _ environment: ProgramEnvironment, deadline: Deadline
    ) throws(CommandFailure) -> PrivateBus {
        guard let daemon = DetachedProgram.path(of: "dbus-daemon", in: environment["PATH"]) else {
            throw CommandFailure(
                .unavailable, "keyring.no-dbus-daemon", "dbus-daemon isn't on PATH",
                hint: "install it: apt-get install dbus-daemon")
        }
        guard unsafe getpwuid(geteuid()) != nil else {
            throw CommandFailure(
                .unavailable, "keyring.no-bus", "dbus-daemon needs a name for the user \(Int64(geteuid()))",
                hint: "add a line for that user to /etc/passwd")
        }
        let folder = try TemporaryFolder(in: runtimeDirectory(environment) ?? "/tmp", prefix: "latchkey-bus-")
        let configuration = folder.path + configurationName
        let text = text(listeningAt: escaped(folder.path + "/bus"))
        if let error = failure(SystemErrorNumber.self, of: try PrivateFile.replace(configuration, with: text)) {
            throw notStarted(error)
        }
        let ends = try mapError(notStarted, of: DescriptorBytes.pipe())
        defer { close(ends.reading) }
        let words = [
            ProcessRole.busStarter.name(getpid()), daemon, configurationOption + configuration, "--nofork",
            "--nopidfile",
            "--print-address=3",
        ]
        let process = BusProcess()
        try mapError(notStarted, of: process.start(words, ends.writing))
        guard let address = line(from: ends.reading, until: deadline) else {
            process.kill()
            throw CommandFailure(
                .tryAgain, "keyring.bus-timed-out", "dbus-daemon didn't report its address in time",
                hint: "allow more time with --timeout, or see why: dbus-daemon --session --nofork --print-address")
        }
        guard address.hasPrefix("unix:") else {
            process.kill()
            throw CommandFailure(
                .unavailable, "keyring.no-dbus-daemon", "dbus-daemon didn't start a bus",
                hint: "see why: dbus-daemon --session --nofork")
        }
        return PrivateBus(address: address, folder: folder, process: process)
    }

    /// After su(1) or in a container the folder may belong to another user, who could replace our folder. The folder
    /// may also be missing, or its path too long for a socket's (unix(7)).
    private static func runtimeDirectory(_ environment: ProgramEnvironment) -> String? {
        guard let path = environment.runtimeDirectory, path.utf8.count < 80 else { return nil }
        var found = stat()
        let isOwn = unsafe stat(path, &found) == 0 && found.st_uid == geteuid()
        return unsafe isOwn && access(path, W_OK | X_OK) == 0 ? path : nil
    }

    deinit {
        process.end()
    }

    /// In a process that was started to run dbus-daemon.
    ///
    /// It waits beside dbus-daemon: when the service ends, however it ends, dbus-daemon and the bus's folder go.
    static func keep(starter parent: pid_t) -> Never {
        let arguments = unsafe ProgramArguments.pointers
        guard arguments.count > 2, let path = unsafe arguments[1], let argument = unsafe arguments[2] else {
            exit(ExitStatus.usage.rawValue)
        }
        var signals = sigset_t(of: [SIGTERM, SIGCHLD])
        unsafe sigprocmask(SIG_BLOCK, &signals, nil)
        _ = latchkey_prctl(PR_SET_PDEATHSIG, UInt(SIGTERM))
        let keeper = getpid()
        guard getppid() == parent else { exit(ExitStatus.unavailable.rawValue) }
        let daemon = fork()
        if daemon == 0 {
            _ = latchkey_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL))
            unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
            // Standard input is the pipe for its address; dbus-daemon has /dev/null for it.
            dup2(0, 3)
            if getppid() == keeper { unsafe execv(path, arguments.baseAddress! + 1) }
            exit(ExitStatus.unavailable.rawValue)
        }
        close(0)
        var number: Int32 = 0
        if daemon > 0, unsafe sigwait(&signals, &number) == 0, number == SIGTERM {
            kill(daemon, SIGTERM)
            // One that doesn't obey is ended with this process.
            var patience = timespec(tv_sec: 2, tv_nsec: 0)
            unsafe sigdelset(&signals, SIGTERM)
            unsafe _ = sigtimedwait(&signals, nil, &patience)
        }
        if let option = unsafe String(validatingCString: argument), option.hasPrefix(configurationOption),
            option.hasSuffix(configurationName)
        {
            let folder = option.dropFirst(configurationOption.utf8.count).dropLast(configurationName.utf8.count)
            unsafe unlink(folder + configurationName)
            unsafe unlink(folder + "/bus")
            unsafe rmdir(String(folder))
        }
        exit(daemon > 0 ? 0 : ExitStatus.unavailable.rawValue)
    }

    private static let configurationOption = "--config-file="
    private static let configurationName = "/bus.conf"

    /// Returns `nil` at the deadline.
    private static func line(from descriptor: Int32, until deadline: Deadline) -> String? {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while text.count < 4096 {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = max(0, deadline.remaining / .milliseconds(1))
            switch unsafe poll(&waiting, 1, Int32(min(milliseconds.rounded(.up), 3_600_000))) {
            case 0 where deadline.remaining <= .zero: return nil
            case 0: continue
            case -1 where errno == EINTR: continue
            default: break
            }
            guard unsafe read(descriptor, &byte, 1) == 1, byte != 0x0A else { break }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func notStarted(_ error: SystemErrorNumber) -> CommandFailure {
        CommandFailure(
            .unavailable, "keyring.no-bus", "can't start a bus: \(error)",
            hint: "make sure that you can create files and processes")
    }

    // MARK: - Its configuration

    /// As dbus-daemon(1) has it for sessions, without the folders of programs to start. No program listens to others'
    /// messages: some get secrets that aren't encrypted.
    private static func text(listeningAt path: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <keep_umask/>
          <listen>unix:path=\(path)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*"/>
            <deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/>
            <allow receive_sender="*"/>
            <allow own="*"/>
          </policy>
          <limit name="max_message_size">33554432</limit>
          <limit name="max_incoming_bytes">268435456</limit>
          <limit name="max_outgoing_bytes">268435456</limit>
          <limit name="max_completed_connections">1024</limit>
          <limit name="max_connections_per_user">1024</limit>
          <limit name="max_replies_per_connection">50000</limit>
          <limit name="max_match_rules_per_connection">50000</limit>
          <limit name="max_names_per_connection">50000</limit>
        </busconfig>

        """
    }

    /// A path in an address (D-Bus specification, "Server Addresses"). The form is valid in XML too.
    private static func escaped(_ path: String) -> String {
        PercentEncoding.encode(path) { $0 == UInt8(ascii: "/") || ASCII.isUnreserved($0) && $0 != UInt8(ascii: "~") }
    }
}

/// dbus-daemon, as the child of a thread that lives as long: the kernel takes that thread's end for its parent's
/// (prctl(2), PR_SET_PDEATHSIG).
private final class BusProcess: Sendable {
    private let process = Mutex<ChildProcess?>(nil)

    /// - Parameter output: what it writes its address to; closed here.
    func start(_ words: [String], _ output: Int32) throws(SystemErrorNumber) {
        try SystemThread.detach {
            let child = try? unsafe ChildProcess(ThisProgram.file, words, .detached(input: output))
            self.process.withLock { $0 = child }
            close(output)
            _ = child?.wait { self.process.withLock { $0 = nil } }
        }
    }

    func end() { signal(SIGTERM) }

    /// One that doesn't work may not hear of anything else.
    func kill() { signal(SIGKILL) }

    private func signal(_ number: Int32) {
        process.withLock { if let child = $0 { _ = Glibc.kill(child.processID, number) } }
    }
}
