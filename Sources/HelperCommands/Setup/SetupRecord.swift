internal import Glibc
internal import LatchkeyJSON
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreCommands
internal import LatchkeySystem
internal import LatchkeyTerminal

/// What `setup` did for a tool, so that `--undo` takes away exactly that. It holds no secret.
struct SetupRecord: Sendable {
    let file: String
    let removed: String
    let inserted: String
    /// Whether there was no file.
    let isNew: Bool
    /// The link that was made, if any.
    let link: String?
}

/// The records, a file each in the state's folder.
struct SetupRecords: Sendable {
    let folder: String

    func path(_ name: String) -> String { "\(folder)/\(name).json" }

    func read(_ name: String) -> SetupRecord? {
        guard let bytes = try? PrivateFile.read(path(name), limit: 64 << 10, followsLinks: false),
            let document = try? JSONDocument(Secret(copying: bytes.span))
        else { return nil }
        func text(_ name: StaticString) -> String? {
            document.member(name).flatMap { try? document.publicText($0, limit: 8192) }
        }
        guard let file = text("file"), let removed = text("removed"), let inserted = text("inserted") else {
            return nil
        }
        let isNew = document.member("is_new").flatMap { try? document.boolean($0) } ?? false
        return SetupRecord(file: file, removed: removed, inserted: inserted, isNew: isNew, link: text("link"))
    }

    func write(_ name: String, _ record: SetupRecord) throws(CommandFailure) {
        func shown(_ text: String) -> LatchkeyTerminal.JSONValue {
            .text(LoggableText(reviewed: "lines that setup writes hold no secret", unredacted: text))
        }
        var members: [(name: StaticString, value: LatchkeyTerminal.JSONValue)] = [
            ("file", shown(record.file)), ("removed", shown(record.removed)), ("inserted", shown(record.inserted)),
            ("is_new", .bool(record.isNew)),
        ]
        if let link = record.link { members.append(("link", shown(link))) }
        try mapError(
            { (error: PrivateFile.Failure) in
                CommandFailure(
                    .cannotWrite, "setup.cannot-write",
                    "what was done can't be remembered (errno \(error.number)), and nothing was changed",
                    hint: "see that the state's folder is yours and its disk has room")
            }, of: PrivateFile.replace(path(name), with: LatchkeyTerminal.JSONValue.object(members).text + "\n"))
    }

    func remove(_ name: String) { unsafe unlink(path(name)) }
}
