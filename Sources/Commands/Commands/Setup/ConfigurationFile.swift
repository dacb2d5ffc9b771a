internal import Glibc
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// A tool's configuration file of this user's. It is written whole, with the mode that it had; a link to it stays one.
struct ConfigurationFile: Sendable {
    /// As the tool names it.
    let path: String

    private static let maximumByteCount = 4 << 20

    var shown: LoggableText { LoggableText(reviewed: "the path of a tool's configuration", unredacted: path) }

    /// The content; empty where there is no file. Throws for one that another user may write, or that is no file.
    func read() throws(CommandFailure) -> Secret<MessageBody> {
        var status = stat()
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT {
                // Written as a file, it would be a link no more.
                guard unsafe lstat(path, &status) != 0 else { throw unusable("is a link that leads nowhere") }
                return Secret(copying: [UInt8]().span)
            }
            throw unusable("can't be read (errno \(errno))")
        }
        defer { close(descriptor) }
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unusable("is no file")
        }
        guard status.st_uid == geteuid() else { throw unusable("is another user's") }
        return try mapError(
            { (_: CommandFailure) in unusable("is too large, or can't be read") },
            of: SecretInput.readAll(from: descriptor, as: MessageBody.self, limit: Self.maximumByteCount))
    }

    /// Writes the content; the old one is whole until then.
    func write(_ content: borrowing Secret<MessageBody>) throws(CommandFailure) {
        let target = resolved
        var status = stat()
        let mode = unsafe stat(target, &status) == 0 ? status.st_mode & 0o777 : 0o600
        try mappingError({ (error: PrivateFile.Failure) in
            CommandFailure(
                .cannotWrite, "setup.cannot-write",
                "\(shown) can't be written (errno \(error.number)), and is as it was",
                hint: "see that its folder is yours and its disk has room")
        }) { () throws(PrivateFile.Failure) in
            try content.withExposedBytes { (bytes) throws(PrivateFile.Failure) in
                try PrivateFile.replace(target, with: bytes, mode: mode)
            }
        }
    }

    func remove() { unsafe unlink(resolved) }

    /// Where a link leads.
    private var resolved: String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    private func unusable(_ what: LogMessage) -> CommandFailure {
        CommandFailure(
            .refused, "setup.unusable", "\(shown) \(what), and was left alone",
            hint: "change it yourself: --print shows how")
    }
}
