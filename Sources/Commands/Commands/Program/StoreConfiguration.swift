internal import Glibc

/// The configuration file `config`: lines `name = value`, empty lines, and lines that start with `#`.
///
/// The names are `store`, those of the stores' places (`vault`, `collection`), `all-stores` (`yes` or `no`), `key-file`
/// and `passphrase-file`. A path begins with `/`, or with `~/`, the home directory. The file doesn't contain secrets.
struct StoreConfiguration: Sendable, Equatable {
    private(set) var store: String?
    /// The locations of the stores, by their names.
    private(set) var places: [String: String] = [:]
    private(set) var usesAllStores = false
    private(set) var keyFile: String?
    private(set) var passphraseFile: String?

    /// As without a file.
    init() {}

    static let maximumByteCount = 64 * 1024

    /// Reads the file; without a file everything is `nil`.
    ///
    /// - Parameter isNamed: whether an option named its folder: then that has to be one.
    init(readingFileAt path: String, isNamed: Bool, home: String, catalogue: StoreCatalogue) throws {
        try self.init(
            parsing: Self.text(ofFileAt: path, isNamed: isNamed), path: path, home: home, catalogue: catalogue)
    }

    static func text(ofFileAt path: String, isNamed: Bool) throws -> String {
        let file: (bytes: [UInt8], owner: UInt32, mode: UInt32)
        do throws(SystemErrorNumber) {
            file = try PrivateFile.readOwned(path, limit: maximumByteCount)
        } catch {
            switch error.number {
            case ENOENT: return ""
            case ENOTDIR where !isNamed: return ""
            case EFBIG: throw unreadable(path, "is larger than 64 KiB")
            case ENOTDIR:
                throw unreadable(
                    path, "isn't in a directory",
                    hint: "set LATCHKEY_CONFIG to the directory that contains the file `config`"
                )
            case EISDIR, EINVAL: throw unreadable(path, "isn't a file", hint: "replace it with a file, or remove it")
            default:
                throw unreadable(
                    path, "can't be read: \(error)",
                    hint: "make the file readable for you (chmod u+r), and its directory (chmod u+rx)")
            }
        }
        try check(path, owner: file.owner, mode: file.mode)
        // Behind a link is another folder.
        if let real = FileSystem.resolving(path) { try check(real, owner: file.owner, mode: file.mode) }
        guard let text = String(validating: file.bytes, as: UTF8.self) else {
            throw unreadable(path, "isn't valid UTF-8")
        }
        return text
    }

    /// Another user could name a vault of theirs, and every secret would go there.
    fileprivate static func check(_ path: String, owner: UInt32, mode: UInt32) throws {
        var disk = statvfs()
        let folderPath = PrivateDirectory.containing(path)
        guard let folder = try? FileStatus.of(folderPath) else { return }
        let isForeign = { (user: UInt32) in user != geteuid() && user != 0 }
        let others = isForeign(owner) || isForeign(folder.owner)
        // A user can't replace another user's file in a folder like /tmp, or any file on a read-only disk.
        let isShared = folder.isWritableByOthers && folder.mode & S_ISVTX == 0
        let isReadOnly = unsafe statvfs(path, &disk) == 0 && disk.f_flag & UInt(ST_RDONLY) != 0
        guard others || !isReadOnly && (isShared || mode & 0o022 != 0) else { return }
        let changed = CredentialName.word(isShared ? folderPath : path)
        let what: LogMessage =
            isForeign(owner)
            ? "belongs to another user"
            : others ? "is in a directory of another user" : "can be changed by other users"
        throw unreadable(
            path, what,
            hint: others
                ? "check what it says, then copy it to a directory of yours and set LATCHKEY_CONFIG to that"
                : "check what it says, then run `chmod go-w \(changed)`")
    }

    /// - Parameters:
    ///   - path: the file's path, for messages.
    ///   - home: the replacement of `~` at the start of a path.
    init(parsing text: String, path: String, home: String, catalogue: StoreCatalogue) throws {
        var known: Set<String> = []
        for (name, value, line) in try Self.assignments(in: text, path: path) {
            func file(_ value: String) throws -> String {
                if value.hasPrefix("/") { return value }
                guard value.hasPrefix("~") else {
                    throw Self.unreadable(
                        path, line: line, "has a path that depends on the current directory",
                        hint: "begin the path with / or ~/")
                }
                guard value.hasPrefix("~/") else {
                    throw Self.unreadable(
                        path, line: line, "has a ~ without a slash after it", hint: "begin the path with / or ~/")
                }
                return home + value.dropFirst()
            }
            if !known.insert(name).inserted {
                // One that is unknown was refused in its first line.
                let shown = CommandFailure.name(name).map { "`\($0)`" as LogMessage } ?? "a name"
                throw Self.unreadable(path, line: line, "sets \(shown) again", hint: "remove one of the two lines")
            }
            if let backend = catalogue.backends.first(where: {
                $0.place.map { $0.word.description == name } ?? false
            }) {
                let isPath = backend.place?.placeholder.description.hasPrefix("PATH") == true
                places[backend.name.description] =
                    isPath && !VaultLocation.isDatabase(value) ? try file(value) : value
                continue
            }
            switch name {
            case "store": store = value
            case "all-stores" where value == "yes" || value == "no": usesAllStores = value == "yes"
            case "all-stores":
                throw Self.unreadable(
                    path, line: line, "sets all-stores to neither yes nor no",
                    hint: "write `all-stores = yes` or `all-stores = no`")
            case "key-file": keyFile = try file(value)
            case "passphrase-file": passphraseFile = try file(value)
            default: throw Self.unknown(name, path, line: line, catalogue)
            }
        }
    }

    /// The settings of the lines, in order. Lines are counted from 1.
    static func assignments(in text: String, path: String) throws -> [(name: String, value: String, line: Int)] {
        try lines(of: text).enumerated().compactMap { index, line in
            let line = trim(line)
            if line.isEmpty || line.hasPrefix("#") { return nil }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw unreadable(path, line: index + 1, "lacks \"=\"") }
            let value = String(trim(parts[1]))
            guard !value.isEmpty else { throw unreadable(path, line: index + 1, "lacks a value") }
            return (String(trim(parts[0])), value, index + 1)
        }
    }

    /// An editor may have written CR LF.
    static func lines(of text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }

    /// The names that lines may have.
    static func names(_ catalogue: StoreCatalogue) -> [String] {
        ["store"] + catalogue.backends.compactMap { $0.place?.word.description }
            + ["all-stores", "key-file", "passphrase-file"]
    }

    /// Only a word that looks like one of Latchkey's names is shown, because a secret may have been pasted there.
    private static func unknown(
        _ name: String, _ path: String, line: Int, _ catalogue: StoreCatalogue
    ) -> CommandFailure {
        let shown = CommandFailure.name(name).map { " `\($0)`" as LogMessage } ?? ""
        let near = Suggestion.nearest(to: name, in: names(catalogue)).map {
            "did you mean \(LoggableText(reviewed: "a word of the program", unredacted: $0))? " as LogMessage
        }
        return unreadable(path, line: line, "sets an unknown name\(shown)", hint: "\(near ?? "")\(grammar)")
    }

    private static let grammar: LogMessage =
        "write lines of `name = value`, with store, vault, collection, all-stores, key-file or passphrase-file"

    private static func trim(_ text: Substring) -> Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var rest = text.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }

    /// - Parameter line: `nil` if the whole file has the problem.
    private static func unreadable(
        _ path: String, line: Int? = nil, _ what: LogMessage, hint: LogMessage = grammar
    ) -> CommandFailure {
        let path = LoggableText(reviewed: "the path of the configuration", unredacted: path)
        let place: LogMessage = line.map { "line \($0) of" } ?? "the configuration"
        return CommandFailure(.configuration, "configuration.invalid", "\(place) \"\(path)\" \(what)", hint: hint)
    }
}

/// The configuration as a file that commands change.
struct StoreConfigurationFile {
    let path: String

    var shownPath: LoggableText { LoggableText(reviewed: "the path of the configuration", unredacted: path) }

    /// The file's settings, in order; empty if the file doesn't exist.
    func assignments() throws -> [(name: String, value: String)] {
        try StoreConfiguration.assignments(in: text(), path: path).map { ($0.name, $0.value) }
    }

    /// Replaces or adds the line of a name; without a value, removes it. Other lines stay, and so does a link to the file.
    func set(_ name: String, to value: String?) throws {
        var lines = try StoreConfiguration.lines(of: text()).map(String.init)
        if lines.last == "" { lines.removeLast() }
        let old = try StoreConfiguration.assignments(in: text(), path: path).filter { $0.name == name }.map(\.line)
        let new = value.map { "\(name) = \($0)" }
        if let new, let last = old.last { lines[last - 1] = new } else if let new { lines.append(new) }
        for line in old.reversed() where new == nil || line != old.last { lines.remove(at: line - 1) }
        var status = stat()
        let isLink = unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
        guard let target = FileSystem.resolving(path) ?? (isLink ? nil : path) else {
            throw cannotWrite(SystemErrorNumber(ENOENT))
        }
        try StoreConfiguration.check(target, owner: geteuid(), mode: 0o600)
        try mapError(cannotWrite, of: PrivateFile.replace(target, with: lines.map { $0 + "\n" }.joined()))
    }

    private func cannotWrite(_ error: SystemErrorNumber) -> CommandFailure {
        CommandFailure(
            .cannotWrite, "configuration.cannot-write",
            "can't write the configuration \"\(shownPath)\": \(error)",
            hint: "make sure that you own its directory, with mode 0700, and that the disk isn't full")
    }

    private func text() throws -> String { try StoreConfiguration.text(ofFileAt: path, isNamed: false) }
}

extension CommandContext {
    var configurationFile: StoreConfigurationFile { StoreConfigurationFile(path: configurationFolder + "/config") }
}
