internal import Foundation

/// A real OpenSSH server of one test, which lets the user in who runs the test, with a key made for it, and nobody
/// else.
///
/// It is no service of the system's: it listens on a loopback port of its own, knows no passwords and no PAM, and ends
/// with the value. Only where the test runs as root, or /dev/pts belongs to the group `tty` as Debian mounts it, can it
/// give sessions a terminal; else ssh says so, and the test fails.
public final class SecureShellServer: Sendable {
    public let directory: TestDirectory
    private let port: UInt16
    private let user: String
    private let server: RunningProgram

    public init() async throws {
        directory = try TestDirectory()
        port = try LoopbackPort.free()
        guard let entry = unsafe getpwuid(getuid()) else { throw ServiceFailure.system("getpwuid", errno) }
        user = unsafe String(cString: entry.pointee.pw_name)
        let maker = try Program("ssh-keygen")
        for name in ["host", "client"] {
            try await maker.run(["-q", "-t", "ed25519", "-N", "", "-f", directory / name]).successful("ssh-keygen")
        }
        try directory.write("authorized", directory.read("client.pub"))
        let key = String(decoding: try directory.read("host.pub"), as: UTF8.self).split(separator: " ")[1]
        try directory.write("known", "[127.0.0.1]:\(port) ssh-ed25519 \(key)\n")
        // The place without files that sshd, as root, keeps its unprivileged half in: what its service makes at each
        // boot.
        if getuid() == 0 { _ = unsafe mkdir("/run/sshd", 0o755) }
        try directory.write(
            "config",
            """
            ListenAddress 127.0.0.1:\(port)
            HostKey \(directory / "host")
            AuthorizedKeysFile \(directory / "authorized")
            PidFile none
            StrictModes no
            UsePAM no
            PermitRootLogin prohibit-password
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            X11Forwarding no
            PermitUserRC no
            PrintMotd no
            PrintLastLog no
            UseDNS no
            # So that the user's shell reads none of the user's own files.
            SetEnv HOME=\(directory.makeFolder("home"))

            """)
        server = try Program("sshd").start(["-D", "-e", "-f", directory / "config"])
        try await server.wait(for: "the port") { server.errorsSoFar.contains("Server listening on 127.0.0.1") }
    }

    deinit { server.kill() }

    /// What the server said about itself and its sessions.
    public var log: String { server.errorsSoFar }

    /// Starts a program in a session on the server. The returned one is the client: its end is the connection's.
    ///
    /// - Parameters:
    ///   - environment: the session's, besides what the server itself sets there.
    ///   - terminal: the one that the client runs at; the session then has one of its own. Without, it has none.
    ///   - forwarding: the words of `ssh -L`.
    public func start(
        _ program: String, _ arguments: [String], environment: [String: String], terminal: PseudoTerminal? = nil,
        forwarding: String? = nil
    ) throws -> RunningProgram {
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted($0.value))" }
        // Exec'd, so that the session's leader is the program itself, as with a login shell's `exec`.
        let command = (["exec", "env"] + variables + ([program] + arguments).map(Self.quoted)).joined(separator: " ")
        var options = [
            "-F", "/dev/null", "-i", directory / "client", "-p", "\(port)", "-l", user,
        ]
        for option in [
            "BatchMode=yes", "IdentitiesOnly=yes", "IdentityAgent=none", "StrictHostKeyChecking=yes",
            "UserKnownHostsFile=\(directory / "known")", "GlobalKnownHostsFile=/dev/null", "LogLevel=ERROR",
            "EscapeChar=none", "ExitOnForwardFailure=yes",
        ] { options += ["-o", option] }
        if let forwarding { options += ["-L", forwarding] }
        return try Program("ssh").start(
            options + [terminal == nil ? "-T" : "-tt", "127.0.0.1", command], terminal: terminal,
            streamsOnTerminal: terminal != nil)
    }

    /// For a shell.
    private static func quoted(_ word: String) -> String { "'" + word.replacing("'", with: "'\\''") + "'" }
}
