internal import LatchkeyImporting
internal import LatchkeyLog
internal import LatchkeyStoreCommands
internal import LatchkeySystem
internal import LatchkeyTerminal

/// `latchkey import --empty-source`: takes the secrets out of a plain-text file when the store has given back each.
struct SourceEmptying {
    private let source: ImportCommand.Source

    /// `nil` where that isn't wanted. Throws where it can't be done.
    init?(_ source: ImportCommand.Source, _ arguments: ParsedArguments) throws(CommandFailure) {
        guard arguments.has(SignInDefinitions.emptySource) else { return nil }
        let refusal: LogMessage? =
            switch source {
            case .git, .gcm, .docker, .cargo, .netrc, .pypirc: nil
            case .gh: "gh needs its file; gh auth logout takes a token out"
            case .pythonKeyring: "remove its file yourself when nothing needs it"
            case .libsecretFile, .collection: "it is no plain text"
            }
        self.source = source
        guard let refusal else { return }
        throw CommandFailure(
            .usage, "usage.bad-value", "\(SignInDefinitions.emptySource.name) is not for \(source.name)", hint: refusal)
    }

    /// Throws where the file stays as it is, which the message says.
    func run(_ read: ImportCommand.Read, isRehearsal: Bool, _ context: CommandContext) throws {
        guard !read.files.isEmpty else {
            context.output.note("no plain-text file holds any of these")
            return
        }
        guard read.skippedCount == 0 else {
            throw CommandFailure(
                .refused, "import.not-emptied",
                "\(names(read)) was left as it was: what was left out above is nowhere else",
                hint: "see to these entries first")
        }
        if isRehearsal {
            context.output.note("\(names(read)) would hold no secret then")
            return
        }
        for file in read.files {
            if let error = failure(ImportError.self, of: try file.empty()) {
                throw CommandFailure(
                    error.exitStatus, error.codeName, "\(name(file)) was left as it was: \(error.cause)",
                    hint: error.hint)
            }
        }
        context.output.note(
            "\(names(read)) holds no secret any more; the disk may, until what was there is overwritten")
        for tool in source.tools { context.output.note("\(tool) finds them where latchkey setup \(tool) was done") }
    }

    /// For an import that ends before.
    func tellKept(_ read: ImportCommand.Read, _ context: CommandContext) {
        if !read.files.isEmpty { context.output.note("\(names(read)) was left as it was") }
    }

    private func names(_ read: ImportCommand.Read) -> LogMessage {
        guard let first = read.files.first else { return "" }
        let others = read.files.count - 1
        return others == 0 ? name(first) : "\(name(first)) with \(LogMessage.counted(others, "other", "others"))"
    }

    private func name(_ file: PlainSecretFile) -> LogMessage {
        "\(LoggableText(reviewed: "the path of a file to import", unredacted: file.path))"
    }
}
