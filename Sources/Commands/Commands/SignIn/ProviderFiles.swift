internal import Glibc
package import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem
package import LatchkeyCommandLine

/// The files of the providers, `providers/NAME.json` in the configuration's folder. Whoever may write one chooses where
/// tokens go, so that each has to be this user's alone.
package struct ProviderFiles: Sendable {
    package let path: String

    package init(configurationFolder: String) {
        path = configurationFolder + "/providers"
    }

    /// The names, sorted.
    package func names() throws(CommandFailure) -> [String] {
        guard let folder = unsafe opendir(path) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw unreadable(errno)
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".json") { names.append(String(name.dropLast(5))) }
        }
        return names.sorted()
    }

    /// The content of a provider's file, or `nil` when there is none.
    package func read(_ name: String) throws -> Secret<MessageBody>? {
        let descriptor = unsafe open(file(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw errno == ELOOP ? notOwn(name) : unreadable(errno)
        }
        defer { close(descriptor) }
        guard Self.isOwn(descriptor, S_IFREG), isFolderOwn else { throw notOwn(name) }
        return try SecretInput.readAll(from: descriptor, as: MessageBody.self, limit: 64 << 10)
    }

    package func file(_ name: String) -> String { "\(path)/\(name).json" }

    package func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "a path from the XDG environment", unredacted: path)
    }

    private func notOwn(_ name: String) -> CommandFailure {
        CommandFailure(
            .refused, "provider.not-own",
            "the file of the provider \(LoggableText(reviewed: "a file's name", unredacted: name)) is a link, another user's, or one that others may write",
            hint: "see that \(shown(file(name))) says what you want, then make it and its folder your own: chmod go-w")
    }

    /// Whether a file is this user's, and no other user may write it.
    private static func isOwn(_ descriptor: Int32, _ kind: mode_t) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == kind && status.st_uid == geteuid()
            && status.st_mode & 0o022 == 0
    }

    private var isFolderOwn: Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Self.isOwn(descriptor, S_IFDIR)
    }

    private func unreadable(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .configuration, "provider.unusable",
            "the folder of providers, \(shown(path)), can't be read (errno \(number))",
            hint: "make it a folder of your own with mode 0700")
    }
}
