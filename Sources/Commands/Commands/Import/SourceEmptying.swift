internal import Glibc

/// `latchkey import --empty-source`: removes the secrets from a plain-text file after each was read back from the
/// store.
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
    func run(_ read: CredentialImport, isRehearsal: Bool, _ context: CommandContext) async throws {
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
        for file in read.files {
            do {
                if isRehearsal { try await file.checkEmptying() } else { try await file.empty() }
            } catch {
                throw CommandFailure(
                    error, "\(name(file)) is unchanged: \(error.cause)", hint: error.hint)
            }
        }
        if isRehearsal { return context.output.note("\(names(read)) would contain no secret then") }
        context.output.note(
            """
            \(names(read)) no longer contains a secret that an import finds; the disk may still have the old content \
            until it is overwritten
            """)
        for tool in source.tools { context.output.note("\(tool) finds them if you ran `latchkey setup \(tool)`") }
        if source == .netrc {
            context.output.note(
                "git and go find them for https:// without a port, if you ran `latchkey setup git` or `latchkey setup go`"
            )
        }
    }

    /// For an import that fails before.
    func tellKept(_ read: CredentialImport, _ context: CommandContext) {
        if !read.files.isEmpty { context.output.note("\(names(read)) is unchanged") }
    }

    private func names(_ read: CredentialImport) -> LogMessage {
        guard let first = read.files.first else { return "" }
        let others = read.files.count - 1
        return others == 0 ? name(first) : "\(name(first)) with \(LogMessage.counted(others, "other", "others"))"
    }

    private func name(_ file: PlainSecretFile) -> LogMessage {
        "\(LoggableText(reviewed: "the path of a file to import", unredacted: file.path))"
    }
}

/// A file with another program's secrets in plain text, in its state at the import.
package final class PlainSecretFile: Sendable {
    package let path: String
    /// The change that removes the secrets.
    enum Change: Sendable {
        /// These parts, in order.
        case cuts([Range<Int>])
        /// The file itself: it is one credential.
        case removal
        /// Other content is between the secrets, so only a person can remove them.
        case byHand
    }

    private let content: Secret<MessageBody>
    private let change: Change
    private let program: StaticString
    private let isFree: @Sendable (borrowing Secret<MessageBody>) async throws -> Bool

    /// - Parameter isFree: whether an import finds no secret in a content.
    init(
        _ path: String, _ content: consuming Secret<MessageBody>, _ change: Change, of program: StaticString,
        isFree: @escaping @Sendable (borrowing Secret<MessageBody>) async throws -> Bool
    ) {
        self.path = path
        self.content = content
        self.change = change
        self.program = program
        self.isFree = isFree
    }

    /// Removes the secrets. A new file with the same mode replaces the old one in one step; a link to the file stays a
    /// link. The disk may still have blocks of the old file.
    ///
    /// When this returns, the file is deleted, or it was read again and an import finds no secret in it. Throws
    /// `changed` if the file is no longer the imported one, also if another program writes after this did. Before any
    /// change it throws `interwoven` if a secret would be left, and `othersFile` and `hardLinked` for files whose other
    /// owner or name would still have the secrets.
    package func empty() async throws(ImportError) {
        try await checkEmptying()
        let target = FileSystem.resolving(path) ?? path
        if case .removal = change {
            guard unsafe unlink(target) == 0 else { throw failure(.unwritable(errno)) }
            return
        }
        // Reading took a moment.
        try check(target)
        let rest = rest
        try write(rest, to: target)
        guard try ForeignFile.read(target, of: program).matches(rest) else { throw failure(.changed) }
    }

    /// Throws what `empty` throws before it changes anything.
    package func checkEmptying() async throws(ImportError) {
        try check(FileSystem.resolving(path) ?? path)
        switch change {
        case .removal: break
        case .byHand: throw failure(.interwoven)
        case .cuts: guard (try? await isFree(rest)) ?? false else { throw failure(.interwoven) }
        }
    }

    /// The content without the secrets.
    private var rest: Secret<MessageBody> {
        let cuts: [Range<Int>] = if case .cuts(let cuts) = change { cuts } else { [] }
        return content.withExposedBytes { Self.rest(of: $0, without: cuts).finish(as: MessageBody.self) }
    }

    private func check(_ target: String) throws(ImportError) {
        let present = try ForeignFile.read(target, of: program)
        let status = try status(target)
        guard status.isOwn else { throw failure(.othersFile) }
        guard status.linkCount == 1 else { throw failure(.hardLinked) }
        guard present.matches(content) else { throw failure(.changed) }
    }

    private func status(_ target: String) throws(ImportError) -> FileStatus {
        try mapError({ (error: SystemErrorNumber) in failure(.unreadable(error.number)) }, of: FileStatus.of(target))
    }

    private func write(_ rest: borrowing Secret<MessageBody>, to target: String) throws(ImportError) {
        let status = try status(target)
        try mappingError({ (error: SystemErrorNumber) in failure(.unwritable(error.number)) }) {
            () throws(SystemErrorNumber) in
            try rest.withExposedBytes { (rest) throws(SystemErrorNumber) in
                try PrivateFile.replace(target, with: rest, mode: status.mode & 0o777)
            }
        }
    }

    static func rest(of bytes: Span<UInt8>, without cuts: [Range<Int>]) -> SecretBuilder {
        // There is room for everything, so nothing is thrown.
        var rest = SecretBuilder(capacity: bytes.count)
        var next = 0
        for cut in cuts {
            try? rest.append(bytes.extracting(next..<cut.lowerBound))
            next = cut.upperBound
        }
        try? rest.append(bytes.extracting(next..<bytes.count))
        return rest
    }

    private func failure(_ problem: ImportError.Problem) -> ImportError {
        ImportError(problem: problem, program: program)
    }
}
