internal import Glibc
internal import LatchkeyJSON
internal import LatchkeySignIn

/// The files of the configured providers, `providers/NAME.json` in the configuration's folder, each 0600.
///
/// Whoever may write one chooses where tokens go, so that each has to be this user's alone.
struct ProviderFolder: Sendable {
    let path: String

    init(configurationFolder: String) {
        path = configurationFolder + "/providers"
    }

    /// All names, sorted.
    func names() throws(CommandFailure) -> [ProviderName] {
        let files = try mappingError(unreadable) { () throws(SystemErrorNumber) in
            try nilIf(
                { (error: SystemErrorNumber) in [ENOENT, ENOTDIR].contains(error.number) },
                of: FileSystem.names(in: path))
        }
        return (files ?? []).filter { $0.hasSuffix(".json") }.compactMap { ProviderName(String($0.dropLast(5))) }
            .sorted { $0.text < $1.text }
    }

    /// Whether there is a provider of this name.
    func hasOne(named text: String) throws(CommandFailure) -> Bool {
        try names().contains { $0.text.hasSameOctets(as: text) }
    }

    /// Returns what a provider's file says, or `nil` when there is none.
    func read(_ name: ProviderName) throws -> ProviderConfiguration? {
        guard let content = try content(name) else { return nil }
        do throws(JSONError) {
            return try ProviderConfiguration(name: name, parsing: content)
        } catch {
            throw CommandFailure(
                .configuration, "provider.malformed", "the file of the provider \(name) is malformed",
                hint: "remove \(shown(file(name))), and add the provider again")
        }
    }

    private func content(_ name: ProviderName) throws -> Secret<MessageBody>? {
        let descriptor = unsafe open(file(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw errno == ELOOP ? notOwn(name) : unreadable(SystemErrorNumber(errno))
        }
        defer { close(descriptor) }
        guard Self.isOwn(descriptor, \.isRegularFile), isOwn else { throw notOwn(name) }
        return try SecretInput.readAll(from: descriptor, "the provider's file", as: MessageBody.self, limit: 64 << 10)
    }

    /// Makes the folder where there is none, and throws when nothing can be written there.
    func prepare() throws {
        try mapError(unusable, of: PrivateDirectory.make(path))
        guard unsafe access(path, W_OK | X_OK) == 0 else { throw unusable(SystemErrorNumber(errno)) }
    }

    func write(_ configuration: ProviderConfiguration) throws {
        try mapError(unusable, of: PrivateFile.replace(file(configuration.name), with: configuration.json.text + "\n"))
    }

    /// Returns whether there was a file.
    func remove(_ name: ProviderName) throws -> Bool {
        if unsafe unlink(file(name)) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw unusable(SystemErrorNumber(errno))
    }

    private func file(_ name: ProviderName) -> String { "\(path)/\(name.text).json" }

    /// Whether a file belongs to this user and other users can't write it.
    private static func isOwn(_ descriptor: Int32, _ isWanted: (FileStatus) -> Bool) -> Bool {
        guard let status = try? FileStatus.of(descriptor: descriptor) else { return false }
        return isWanted(status) && status.isOwn && !status.isWritableByOthers
    }

    private var isOwn: Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Self.isOwn(descriptor, \.isDirectory)
    }

    private func notOwn(_ name: ProviderName) -> CommandFailure {
        CommandFailure(
            .refused, "provider.not-own",
            "the file of the provider \(name) is a link, belongs to another user, or can be changed by other users",
            hint: "check \(shown(file(name))), then run chmod go-w on the file and its directory")
    }

    private func unreadable(_ error: SystemErrorNumber) -> CommandFailure {
        CommandFailure(
            .configuration, "provider.unusable",
            "can't read the providers' directory \"\(shown(path))\": \(error)",
            hint: "use a directory that you own, with mode 0700")
    }

    private func unusable(_ error: SystemErrorNumber) -> CommandFailure {
        CommandFailure(
            .cannotWrite, "provider.unusable",
            "can't write to the providers' directory \"\(shown(path))\": \(error)",
            hint: error.number == EROFS
                ? "set LATCHKEY_CONFIG or HOME to a directory that you can write to"
                : "use a directory that you own, with mode 0700")
    }

    private func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "a path from the XDG environment", unredacted: path)
    }
}
