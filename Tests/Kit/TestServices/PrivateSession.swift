internal import Foundation
internal import Synchronization

/// A desktop session of one test: its own HOME, its own D-Bus session bus and, on it, a real gnome-keyring-daemon.
///
/// Nothing is shared with the user's session, nothing is started by the bus itself, and there is no display, so no
/// prompt can appear unless the test brings a prompter. Everything ends with the value.
public final class PrivateSession: Sendable {
    /// The state in which gnome-keyring-daemon starts.
    public enum Keyring: Sendable {
        /// The default collection `login` is made at the first start, and open.
        case unlocked
        /// The collection is there and locked.
        case locked
        /// The bus has nobody who offers secrets.
        case none
    }

    /// The password of the collection `login`.
    public static let password = "keyring password"
    /// Where the collection `login` is on the bus.
    public static let loginCollection = "/org/freedesktop/secrets/collection/login"

    public let directory: TestDirectory
    /// For children: own HOME and XDG directories, and the address of this bus.
    public let environment: [String: String]
    /// The value of DBUS_SESSION_BUS_ADDRESS.
    public let busAddress: String

    private let limits: [String: Int]
    private let isSteady: Bool
    private struct Running {
        var bus: RunningProgram?
        var daemon: RunningProgram?
    }
    private let running = Mutex(Running())

    /// Starts a bus, and the daemon in the state asked for.
    ///
    /// - Parameters:
    ///   - files: prepared keyring files by name, such as `login.keyring`, which the daemon will find.
    ///   - limits: the bus's limits, by their names in dbus-daemon(1); they replace those of `busLimits`.
    ///   - isSteady: whether the daemon is scheduled so that it forgets no caller; `false` to measure it as it is.
    public init(
        _ keyring: Keyring = .unlocked, files: [String: [UInt8]] = [:], limits: [String: Int] = [:],
        isSteady: Bool = true
    ) async throws {
        self.isSteady = isSteady
        self.limits = limits
        directory = try TestDirectory()
        var variables = try directory.environment()
        busAddress = "unix:path=" + directory / "run/bus"
        variables["DBUS_SESSION_BUS_ADDRESS"] = busAddress
        environment = variables
        try directory.makeFolder("data/keyrings")
        try directory.makeFolder("services")
        for (name, bytes) in files { try directory.write("data/keyrings/" + name, bytes) }
        try await startBus()
        switch keyring {
        case .unlocked:
            try await startDaemon(password: Self.password)
        case .locked:
            // A first, unlocked run makes the collection; the second one finds it locked.
            try await startDaemon(password: Self.password)
            await stopDaemon()
            try await startDaemon(password: nil)
        case .none: break
        }
    }

    deinit {
        running.withLock {
            $0.daemon?.kill()
            $0.bus?.kill()
        }
    }

    // MARK: - The bus

    /// The replies that a connection may wait for, as dbus-daemon has them by default, where desktops allow 50,000; and
    /// message sizes between its default of 32 MiB and a desktop's gigabyte.
    private static let busLimits = [
        "max_replies_per_connection": 128, "max_message_size": 256 << 20, "max_incoming_bytes": 256 << 20,
        "max_outgoing_bytes": 256 << 20,
    ]

    /// A bus that activates only what a test puts into `services`: nothing starts behind its back.
    private var busConfiguration: String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(busAddress)</listen>
          <auth>EXTERNAL</auth>
          <servicedir>\(directory / "services")</servicedir>
          <policy context="default">
            <allow send_destination="*"/>
            <allow receive_sender="*"/>
            <allow own="*"/>
          </policy>
          \(Self.busLimits.merging(limits) { $1 }.map { "<limit name=\"\($0)\">\($1)</limit>" }.joined())
        </busconfig>

        """
    }

    /// Starts the bus again after `killBus()`, at the same address.
    public func startBus() async throws {
        try directory.write("bus.conf", busConfiguration)
        unsafe unlink(directory / "run/bus")
        let bus = try Program("dbus-daemon").start(
            ["--config-file=" + directory / "bus.conf", "--nofork", "--nopidfile", "--nosyslog", "--print-address"],
            environment: environment)
        bus.closeInput()
        running.withLock { $0.bus = bus }
        // dbus-daemon prints its address once it listens.
        try await bus.wait(for: "the session bus") { bus.outputSoFar.contains("\n") }
    }

    /// Kills the bus at once; whoever is connected loses the connection.
    public func killBus() async {
        let bus = running.withLock { $0.bus.take() }
        bus?.kill()
        _ = try? await bus?.finish(within: .seconds(5))
    }

    /// SIGSTOP: the bus takes connections, as far as the kernel does that for it, and answers nothing any more.
    public func suspendBus() { running.withLock { $0.bus?.signal(SIGSTOP) } }

    /// Calls a method of the bus or of a service on it; arguments in the notation of dbus-send(1).
    @discardableResult
    public func call(
        _ destination: String, _ path: String, _ method: String, _ arguments: [String] = []
    ) async throws -> String {
        try await Program("dbus-send").run(
            ["--session", "--print-reply=literal", "--dest=" + destination, path, method] + arguments,
            environment: environment
        ).successful(method).outputText
    }

    /// Whether somebody owns a name on the bus.
    public func hasOwner(_ name: String = "org.freedesktop.secrets") async throws -> Bool {
        let bus = "org.freedesktop.DBus"
        return try await call(bus, "/", bus + ".NameHasOwner", ["string:" + name]).contains("true")
    }

    /// Waits until somebody owns a name on the bus, while the program runs that is to take it.
    public func wait(for name: String = "org.freedesktop.secrets", from program: RunningProgram) async throws {
        let waiting = try Program("gdbus").start(["wait", "--session", name], environment: environment)
        try await program.wait(for: "\(name) on the bus") { !waiting.isRunning }
        let run = try await waiting.finish()
        guard run.status == 0 else {
            throw ServiceFailure("gdbus wait \(name): \(run.errorText)\nthe program said:\n\(program.errorsSoFar)")
        }
    }

    // MARK: - The daemon

    /// The process id of the running daemon.
    public var daemonPID: Int32? { running.withLock { $0.daemon?.pid } }

    /// Whether the daemon that was started still lives.
    public var daemonIsRunning: Bool { running.withLock { $0.daemon?.isRunning ?? false } }

    /// Starts gnome-keyring-daemon; with a password it unlocks the collection `login`, and makes it when missing.
    ///
    /// The collection stays locked when the password is wrong.
    public func startDaemon(password: String?) async throws {
        var command = [try Program("gnome-keyring-daemon").path, "--foreground", "--components=secrets"]
        if password != nil { command.append("--unlock") }
        if isSteady { command = await Self.steadyStart + command }
        let daemon = try Program(command[0]).start(Array(command.dropFirst()), environment: environment)
        // All of standard input is the password: a newline would be a part of it.
        daemon.send(Array((password ?? "").utf8))
        running.withLock { $0.daemon = daemon }
        try await wait(from: daemon)
    }

    /// What gnome-keyring-daemon is started with where this user may: its main thread runs before its other threads, all
    /// on one processor.
    ///
    /// On a busy machine version 42 forgets one in some 10,000 new callers. Its thread for D-Bus adds a caller's
    /// registration to the main loop, then the caller's first call (`g_idle_add_full` in `gkd-secret-service.c`). While
    /// the loop looks for what to do next, the call can overtake the registration. The daemon then ignores the call or
    /// crashes (`assertion 'client' failed`).
    private static var steadyStart: [String] {
        get async { await steadyStartTask.value }
    }
    private static let steadyStartTask = Task { () -> [String] in
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let allowed = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? ""
        let processor = allowed.split { !$0.isNumber }.first ?? "0"
        guard let chrt = try? Program("chrt"), let taskset = try? Program("taskset") else { return [] }
        let options = ["--reset-on-fork", "--fifo", "1", taskset.path, "--cpu-list", "\(processor)"]
        if (try? await chrt.run(options + ["true"]))?.status == 0 { return [chrt.path] + options }
        let note = "note: chrt isn't allowed here, so gnome-keyring may forget a caller on a busy machine\n"
        FileHandle.standardError.write(Data(note.utf8))
        return []
    }

    /// Lets the bus start a daemon when somebody calls the service, as on a desktop. Its collections are locked.
    public func activateDaemonOnDemand() async throws {
        let daemon = await (Self.steadyStart + [try Program("gnome-keyring-daemon").path]).joined(separator: " ")
        try await activateOnDemand(daemon + " --foreground --components=secrets")
    }

    /// Lets the bus run a command when somebody calls the service.
    public func activateOnDemand(_ command: String) async throws {
        try directory.write(
            "services/org.freedesktop.secrets.service",
            "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(command)\n")
        try await call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.ReloadConfig")
    }

    /// How many programs are connected to the bus, the one that asks not counted.
    public func connectionCount() async throws -> Int {
        let names = try await call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames")
        return names.split { " []\n\t".contains($0) }.count { $0.hasPrefix(":") } - 1
    }

    /// Ends the daemon in an orderly way.
    public func stopDaemon() async {
        let daemon = running.withLock { $0.daemon.take() }
        await daemon?.stop()
    }

    /// Kills the daemon in the midst of whatever it does.
    public func killDaemon() async {
        let daemon = running.withLock { $0.daemon.take() }
        daemon?.kill()
        _ = try? await daemon?.finish(within: .seconds(5))
    }

    /// Stops the daemon and starts it again, unlocked unless told otherwise.
    public func restartDaemon(password: String? = PrivateSession.password) async throws {
        await stopDaemon()
        try await startDaemon(password: password)
    }

    /// SIGSTOP: the daemon keeps its name on the bus and answers nothing until `resumeDaemon()`.
    public func suspendDaemon() { running.withLock { $0.daemon?.signal(SIGSTOP) } }
    public func resumeDaemon() { running.withLock { $0.daemon?.signal(SIGCONT) } }

    /// Locks a collection, as the desktop does when its user asks for that.
    ///
    /// The daemon answers a call that it couldn't fulfil as one that it could, so the collection itself is asked too.
    public func lock(_ collection: String = PrivateSession.loginCollection) async throws {
        for _ in 0..<3 {
            try await call(
                Self.service, Self.servicePath, Self.serviceInterface + ".Lock", ["array:objpath:" + collection])
            let locked = try await call(
                Self.service, collection, "org.freedesktop.DBus.Properties.Get",
                ["string:org.freedesktop.Secret.Collection", "string:Locked"])
            if locked.contains("true") { return }
        }
        let said = running.withLock { $0.daemon?.errorsSoFar ?? "" }
        throw ServiceFailure("gnome-keyring doesn't lock \(collection); it said:\n\(said)")
    }

    // MARK: - Other people's clients

    /// secret-tool(1) on this bus. Its standard output has no newline at the end when it is no terminal.
    public func secretTool(_ arguments: [String], input: [UInt8] = []) async throws -> ProgramRun {
        try await Program("secret-tool").run(arguments, environment: environment, input: input)
    }
}
