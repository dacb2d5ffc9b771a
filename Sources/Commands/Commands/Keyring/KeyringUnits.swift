internal import Glibc

/// The files of this user that have the session bus start the served keyring: one for the bus (D-Bus specification,
/// "Message Bus Starting Services") and a unit for systemd's user manager.
struct KeyringUnits {
    /// The line that marks a file as written by Latchkey, which may remove it.
    private static let mark = "# Written by `latchkey keyring enable`; `latchkey keyring disable` removes it.\n"

    /// The name at which xdg-desktop-portal asks for the keys of sandboxed applications.
    static let portalName = "org.freedesktop.impl.portal.desktop.latchkey"

    private let files: [(path: String, text: String)]

    /// - Parameters:
    ///   - program: this program's path.
    ///   - vault: the vault's path, where it isn't the usual one.
    ///   - usesNetwork: whether it is in a database.
    init(_ environment: ProgramEnvironment, program: String, vault: String?, usesNetwork: Bool) {
        let command = ([program, "keyring", "serve", "--no-prompt"] + (vault.map { ["--vault", $0] } ?? []))
            .joined(separator: " ")
        files =
            [
                (
                    environment.configurationHome + "/systemd/user/latchkey-keyring.service",
                    """
                    \(Self.mark)[Unit]
                    Description=Latchkey's keyring (org.freedesktop.secrets)

                    [Service]
                    Type=dbus
                    BusName=org.freedesktop.secrets
                    ExecStart=\(command) --log-format journal
                    Restart=on-failure
                    RestartPreventExitStatus=77
                    LimitCORE=0
                    UMask=0077
                    NoNewPrivileges=yes
                    LockPersonality=yes
                    MemoryDenyWriteExecute=yes
                    RestrictAddressFamilies=AF_UNIX\(usesNetwork ? " AF_INET AF_INET6" : "")
                    RestrictNamespaces=yes
                    RestrictRealtime=yes
                    SystemCallArchitectures=native
                    SystemCallFilter=@system-service

                    """
                )
            ]
            + [Self.portalName, "org.freedesktop.secrets"].map { name in
                (
                    environment.dataHome + "/dbus-1/services/\(name).service",
                    """
                    \(Self.mark)[D-BUS Service]
                    Name=\(name)
                    Exec=\(command)
                    SystemdService=latchkey-keyring.service

                    """
                )
            }
    }

    /// Writes the files that are missing or changed, and returns all paths. Throws if another program's file is in the
    /// way or a file can't be written. Then nothing has changed.
    func write() throws(CommandFailure) -> [String] {
        var former: [[UInt8]?] = []
        for file in files {
            let present = try content(file.path)
            guard present?.starts(with: Self.mark.utf8) ?? true else { throw othersFile(file.path) }
            former.append(present)
        }
        for (index, file) in files.enumerated() where former[index] != Array(file.text.utf8) {
            guard let error = failure(SystemErrorNumber.self, of: try PrivateFile.replace(file.path, with: file.text))
            else { continue }
            for (file, former) in zip(files, former).prefix(index + 1) { restore(file.path, former) }
            throw CommandFailure(
                .cannotWrite, "keyring.cannot-write",
                "can't write \"\(shown(file.path))\": \(error); nothing was changed",
                hint: "make sure that you own its directory and that the disk isn't full")
        }
        return files.map(\.path)
    }

    private func restore(_ path: String, _ former: [UInt8]?) {
        if let former {
            try? PrivateFile.replace(path, with: former.span, mode: 0o600)
        } else {
            unsafe unlink(path)
        }
    }

    /// Removes the files that `write` wrote, and no others. Returns their paths, and the first failure after trying all
    /// files.
    func remove() -> (paths: [String], failure: CommandFailure?) {
        var (paths, failure): ([String], CommandFailure?) = ([], nil)
        for file in files.reversed() {
            switch Result(catching: { () throws(CommandFailure) in try remove(file.path) }) {
            case .success(let isRemoved): if isRemoved { paths.append(file.path) }
            case .failure(let error): failure = failure ?? error
            }
        }
        return (paths, failure)
    }

    private func remove(_ path: String) throws(CommandFailure) -> Bool {
        guard try content(path)?.starts(with: Self.mark.utf8) ?? false else { return false }
        guard unsafe unlink(path) == 0 else {
            throw CommandFailure(
                .cannotWrite, "keyring.cannot-write", "can't delete \"\(shown(path))\": \(SystemErrorNumber(errno))",
                hint: "delete the file yourself")
        }
        return true
    }

    private func content(_ path: String) throws(CommandFailure) -> [UInt8]? {
        try mappingError({ (error: SystemErrorNumber) in
            CommandFailure(
                .refused, "keyring.other-file", "can't read \"\(shown(path))\": \(error)",
                hint: "move the file elsewhere")
        }) { () throws(SystemErrorNumber) in
            try nilIf(
                { (error: SystemErrorNumber) in error.number == ENOENT }, of: PrivateFile.read(path, limit: 65536))
        }
    }

    private func othersFile(_ path: String) -> CommandFailure {
        CommandFailure(
            .refused, "keyring.other-file", "\(shown(path)) was written by another program, so it wasn't changed",
            hint: "remove the file if Latchkey should serve the keyring instead")
    }

    private func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "a path from the XDG environment", unredacted: path)
    }
}
