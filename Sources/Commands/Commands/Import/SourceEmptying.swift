internal import LatchkeyLog
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// `latchkey import --empty-source`: removes the secrets from a plain-text file after each was read back from the store.
struct SourceEmptying {
    private let source: ImportCommand.Source

    /// `nil` without the option. Throws for a source whose file can't be emptied.
    init?(_ source: ImportCommand.Source, _ arguments: ParsedArguments) throws(CommandFailure) {
        guard arguments.has(ImportCommand.emptySource) else { return nil }
        let refusal: LogMessage? =
            switch source {
            case .git, .gcm, .docker, .cargo, .netrc, .pypirc: nil
            case .gh: "gh needs its file; `gh auth logout` removes a token"
            case .pythonKeyring: "remove the file yourself when no program needs it"
            case .libsecretFile, .collection: "the source isn't plain text"
            }
        self.source = source
        guard let refusal else { return }
        throw CommandFailure(
            .usage, "usage.bad-value", "\(ImportCommand.emptySource.name) is not for \(source.name)", hint: refusal)
    }

    /// Throws where the file stays unchanged, with a message that says so.
    func run(_ read: ImportCommand.Read, isRehearsal: Bool, _ context: CommandContext) async throws {
        guard !read.files.isEmpty else {
            context.output.note("no plain-text file contains any of these")
            return
        }
        guard read.skippedCount == 0 else {
            throw CommandFailure(
                .refused, "import.not-emptied",
                "\(names(read)) is unchanged: the skipped entries are in no store",
                hint: "change or remove the skipped entries, then run the command again")
        }
        if isRehearsal {
            context.output.note("\(names(read)) would contain no secret then")
            return
        }
        for file in read.files {
            do {
                try await file.empty()
            } catch {
                throw CommandFailure(
                    error, "\(name(file)) is unchanged: \(error.cause)", hint: error.hint)
            }
        }
        context.output.note(
            """
            \(names(read)) no longer contains a secret that an import finds; the disk may still have the old content \
            until it is overwritten
            """)
        for tool in source.tools { context.output.note("\(tool) finds them if you ran `latchkey setup \(tool)`") }
    }

    /// For an import that fails before.
    func tellKept(_ read: ImportCommand.Read, _ context: CommandContext) {
        if !read.files.isEmpty { context.output.note("\(names(read)) is unchanged") }
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
