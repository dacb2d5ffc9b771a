internal import Glibc
internal import LatchkeyJSON

/// The change that `setup` made for a tool, so that `--undo` reverts exactly that. It doesn't contain a secret.
struct SetupRecord: Sendable, Equatable {
    let file: String
    let removed: String
    let inserted: String
    /// Where, as an offset in bytes.
    let place: Int
    /// Whether `setup` created the file.
    let isNew: Bool
    /// The link that was made, if any.
    var link: String?
}

extension SetupRecord {
    /// The range of the inserted text: at its original place, or on separate lines elsewhere if it occurs once.
    func place(in text: Span<UInt8>) -> Range<Int>? {
        let places = text.places(of: inserted)
        if let present = places.first(where: { $0.lowerBound == place }) { return present }
        guard places.count == 1, let only = places.first else { return nil }
        // Inserted text in the middle of a line belongs to the person's own text, such as a comment.
        let beginsLine = only.lowerBound == 0 || text[only.lowerBound - 1] == 0x0A || inserted.hasPrefix("\n")
        return beginsLine ? only : nil
    }

    /// The change that reverts this one, or `nil` if the text was edited.
    func undoing(in text: Span<UInt8>) -> TextChange? {
        guard let place = place(in: text) else { return nil }
        // Tools put settings of their own below a section's header, which stays with them.
        let header = inserted.prefix { $0 == "\n" } + (inserted.drop { $0 == "\n" }.prefix { $0 != "\n" })
        guard header.hasSuffix("]"), header.utf8.count + 1 < place.count,
            Self.hasSetting(text.extracting(place.upperBound..<text.count))
        else { return TextChange(place: place, removed: inserted, inserted: removed) }
        let start = place.lowerBound + header.utf8.count + 1
        return TextChange(
            place: start..<place.upperBound, removed: String(inserted.dropFirst(header.count + 1)), inserted: removed)
    }

    /// Whether a text begins with a setting, apart from comments and blank lines, and not with a section.
    private static func hasSetting(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while let next = (index..<text.count).first(where: { text[$0] > 0x20 }) {
            guard text[next] == UInt8(ascii: "#") || text[next] == UInt8(ascii: ";") else {
                return text[next] != UInt8(ascii: "[")
            }
            index = text.index(of: 0x0A, from: next) ?? text.count
        }
        return false
    }

    /// Whether no part of the change is in the text: it was never written, or was removed by hand.
    func isGone(from text: Span<UInt8>) -> Bool {
        let line = inserted.split(separator: "\n").last.map { $0.drop { $0 == " " } } ?? ""
        return text.places(of: String(line)).isEmpty && (line.isEmpty || text.places(of: "latchkey").isEmpty)
    }
}

/// The records, a file each in the state's folder.
struct SetupRecords: Sendable {
    let folder: String

    func path(_ name: String) -> String { "\(folder)/\(name).json" }

    func read(_ name: String) -> SetupRecord? {
        guard let bytes = try? PrivateFile.read(path(name), limit: 64 << 10, followsLinks: false),
            let document = try? JSONDocument(Secret(copying: bytes.span))
        else { return nil }
        guard let file = document.text(document.member("file")),
            let removed = document.text(document.member("removed")),
            let inserted = document.text(document.member("inserted"))
        else { return nil }
        let isNew = document.member("is_new").flatMap { try? document.boolean($0) } ?? false
        let place = document.member("place").flatMap { try? document.integer($0) } ?? 0
        return SetupRecord(
            file: file, removed: removed, inserted: inserted, place: Int(place), isNew: isNew,
            link: document.text(document.member("link")))
    }

    func write(_ name: String, _ record: SetupRecord) throws(CommandFailure) {
        func shown(_ text: String) -> JSONOutput {
            .text(LoggableText(reviewed: "lines that setup writes hold no secret", unredacted: text))
        }
        var members: [(name: StaticString, value: JSONOutput)] = [
            ("file", shown(record.file)), ("removed", shown(record.removed)), ("inserted", shown(record.inserted)),
            ("place", .number(Int64(record.place))), ("is_new", .bool(record.isNew)),
        ]
        if let link = record.link { members.append(("link", shown(link))) }
        try mapError(
            notRemembered,
            of: PrivateFile.replace(path(name), with: JSONOutput.object(members).text + "\n"))
        // A record that is too long to be read again couldn't be reverted.
        guard read(name) == record else {
            remove(name)
            throw notRemembered(SystemErrorNumber(EFBIG))
        }
    }

    /// Does what another set-up of this user's must not do at the same time.
    func exclusively(_ body: () throws -> Void) throws {
        if let error = failure(SystemErrorNumber.self, of: try PrivateDirectory.make(folder)) {
            throw notRemembered(error)
        }
        let descriptor = unsafe open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard descriptor >= 0 else { throw notRemembered(SystemErrorNumber(errno)) }
        defer { close(descriptor) }
        guard FileLock.takeSoon(descriptor) == 0 else {
            throw CommandFailure(
                .tryAgain, "setup.busy", "another process is writing a set-up", hint: "run the command again")
        }
        try body()
    }

    private func notRemembered(_ error: SystemErrorNumber) -> CommandFailure {
        CommandFailure(
            .cannotWrite, "setup.cannot-write",
            "can't record the change, so nothing was changed: \(error)",
            hint: "make sure that you own the directory for state (XDG_STATE_HOME) and that its disk isn't full")
    }

    func remove(_ name: String) { unsafe unlink(path(name)) }
}

/// A helper's name that a tool looks for on PATH: a link to `latchkey`.
struct HelperLink: Sendable {
    let name: String
    let program: String
    let environment: ProgramEnvironment

    /// Where a person's own programs are (systemd's file-hierarchy(7)).
    var path: String { environment.home + "/.local/bin/" + name }

    /// Whether the tool finds ours already. Throws where it finds another program first.
    func isThere() throws(CommandFailure) -> Bool {
        for folder in (environment["PATH"] ?? "").split(separator: ":") {
            let place = folder.hasSuffix("/") ? "\(folder)\(name)" : "\(folder)/\(name)"
            guard unsafe access(place, X_OK) == 0 else {
                // One that is made here is found first.
                if place == path && !FileNames.exist(place) { return false }
                continue
            }
            if FileSystem.resolving(place) == program { return true }
            throw CommandFailure(
                .refused, "setup.other-program",
                "\(shown(place)) is another program with the name that the tool looks for",
                hint: "remove that program from PATH, or link \(shown(name)) to `latchkey` in a directory before it")
        }
        return FileSystem.resolving(path) == program
    }

    /// Makes the link, or replaces a link to a program that no longer exists, and returns its path.
    func make() throws(CommandFailure) -> String {
        let folder = environment.home + "/.local/bin"
        unsafe mkdir(environment.home + "/.local", 0o755)
        unsafe mkdir(folder, 0o755)
        if FileNames.isBrokenLink(path) { FileNames.remove(path) }
        guard unsafe symlink(program, path) != 0 else { return path }
        let number = errno
        // Another set-up was sooner.
        if number == EEXIST, FileSystem.resolving(path) == program { return path }
        throw CommandFailure(
            .cannotWrite, "setup.cannot-write",
            "can't create the link \"\(shown(path))\": \(SystemErrorNumber(number))",
            hint: number == EEXIST
                ? "rename or remove what is there"
                : "create a link with that name to `latchkey` yourself, in a directory on PATH")
    }

    /// Whether the tool finds ours on PATH.
    var isOnPath: Bool {
        (environment["PATH"] ?? "").split(separator: ":").contains { FileSystem.resolving("\($0)/\(name)") == program }
    }

    private func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "the path of a helper", unredacted: text)
    }
}

extension ToolSetup.Place {
    /// Whether git finds the link for `helper = latchkey`.
    var hasGitLink: Bool {
        HelperLink(name: "git-credential-latchkey", program: program, environment: environment).isOnPath
    }
}

enum FileNames {
    static func remove(_ path: String) { unsafe unlink(path) }

    /// Whether a path is a link to a `latchkey` that no longer exists.
    static func isBrokenLink(_ path: String) -> Bool {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        let end = Array("/latchkey".utf8.map(CChar.init(bitPattern:)))
        return count > 0 && !exist(path) && target.prefix(count).suffix(end.count).elementsEqual(end)
    }

    static func exist(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
