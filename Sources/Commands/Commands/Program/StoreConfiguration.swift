internal import Glibc
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// The configuration file `config`: lines `name = value`, empty lines, and lines that start with `#`.
///
/// The names are `store`, those of the stores' places (`vault`, `collection`), `all-stores` (`yes` or `no`), `key-file`
/// and `passphrase-file`. A path may begin with `~/`, the home directory. It holds no secret.
struct StoreConfiguration: Sendable, Equatable {
    private(set) var store: String?
    /// Where the stores are, by their names.
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

    private static func text(ofFileAt path: String, isNamed: Bool) throws -> String {
        let bytes: [UInt8]
        do throws(PrivateFile.Failure) {
            bytes = try PrivateFile.read(path, limit: maximumByteCount)
        } catch {
            switch error.number {
            case ENOENT: return ""
            case ENOTDIR where !isNamed: return ""
            case EFBIG: throw unreadable(path, "is longer than 64 KiB")
            case ENOTDIR:
                throw unreadable(
                    path, "isn't in a folder", hint: "LATCHKEY_CONFIG names the folder of the file `config`")
            case EISDIR, EINVAL: throw unreadable(path, "is no file", hint: "make it a file, or take it away")
            default:
                throw unreadable(
                    path, "can't be read: \(SystemErrorNumber(error.number))", hint: "make it a file that you can read")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw unreadable(path, "is not valid UTF-8")
        }
        return text
    }

    /// - Parameters:
    ///   - path: for messages.
    ///   - home: what `~` stands for at the start of a path.
    init(parsing text: String, path: String, home: String, catalogue: StoreCatalogue) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = Self.trim(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Self.unreadable(path, "has no = in line \(index + 1)") }
            let value = String(Self.trim(parts[1]))
            guard !value.isEmpty else { throw Self.unreadable(path, "has no value in line \(index + 1)") }
            let name = Self.trim(parts[0])
            func file(_ value: String) throws -> String {
                guard value.hasPrefix("~") else { return value }
                guard value.hasPrefix("~/") else {
                    throw Self.unreadable(path, "has a ~ without a slash behind it in line \(index + 1)")
                }
                return home + value.dropFirst()
            }
            if let backend = catalogue.backends.first(where: {
                $0.place.map { $0.word.description == name } ?? false
            }) {
                let isPath = backend.place?.placeholder.description.hasPrefix("PATH") == true
                places[backend.name.description] = isPath ? try file(value) : value
                continue
            }
            switch name {
            case "store": store = value
            case "all-stores" where value == "yes" || value == "no": usesAllStores = value == "yes"
            case "all-stores": throw Self.unreadable(path, "has neither yes nor no for all-stores in line \(index + 1)")
            case "key-file": keyFile = try file(value)
            case "passphrase-file": passphraseFile = try file(value)
            default: throw Self.unknown(String(name), path, line: index + 1, catalogue)
            }
        }
    }

    /// What looks like a name of ours is shown, and nothing else: something else may have been pasted there.
    private static func unknown(
        _ name: String, _ path: String, line: Int, _ catalogue: StoreCatalogue
    ) -> CommandFailure {
        let shown = CommandFailure.name(name).map { ", `\($0)`," as LogMessage } ?? ""
        let names =
            ["store", "all-stores", "key-file", "passphrase-file"] + catalogue.backends.compactMap { $0.place?.word }
        guard let near = Suggestion.nearest(to: name, in: names) else {
            return unreadable(path, "has an unknown name\(shown) in line \(line)")
        }
        return unreadable(
            path, "has an unknown name\(shown) in line \(line)", hint: "did you mean \(near)? \(grammar)")
    }

    private static let grammar: LogMessage =
        "its lines are `name = value`, with store, vault, collection, all-stores, key-file or passphrase-file"

    private static func trim(_ text: Substring) -> Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var rest = text.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }

    private static func unreadable(
        _ path: String, _ what: LogMessage,
        hint: LogMessage = grammar
    ) -> CommandFailure {
        let path = LoggableText(reviewed: "the path of the configuration", unredacted: path)
        return CommandFailure(
            .configuration, "configuration.invalid", "the configuration \(path) \(what)", hint: hint)
    }
}
