/// `latchkey setup [TOOL]`: has a tool ask Latchkey, and takes that back.
enum SetupCommand {
    static let undo = CommandOption.flag("--undo", help: "remove what setup wrote")
    static let printing = CommandOption.flag("--print", help: "show the change without writing it")

    static let command = Command(
        "setup", topic: .helpers, summary: "make git, docker, pip and other tools fetch secrets from Latchkey",
        operands: [
            .optional("TOOL", help: "git, docker, podman, cargo, pip, uv, kubectl, aws or go (default: list all)"),
            .optional("NAME", help: "profile for aws (default: default), or provider for kubectl"),
        ],
        options: [.yes, undo, printing, TokenCommand.id],
        details: """
            setup shows the change to the tool's configuration and asks before it writes. Existing settings are kept. docker's credsStore
            is replaced; --undo restores it. If another setting conflicts, or the file has a bracket or quotation mark that isn't closed,
            setup writes nothing; --print shows the lines to write by hand.

            For git, aws and go, setup adds --store and --vault to the helper's command line. docker, podman, cargo, pip and uv need the
            helper on PATH: if it isn't there, setup makes a link in ~/.local/bin. podman covers skopeo and buildah.

            Without TOOL, setup lists the tools that use Latchkey, and files that contain secrets in plain text. Helpers never ask a
            question: if the store is locked, their error says how to unlock it.

            --id is for kubectl, and for clusters that take ID tokens (OpenID Connect).
            """,
        examples: [
            "latchkey setup", "latchkey setup git", "latchkey setup podman --print", "latchkey setup git --undo",
        ]
    ) { arguments, context in
        guard let word = arguments.optionalOperand("TOOL") else {
            for option in [CommandOption.yes, undo, printing, TokenCommand.id]
            where arguments.has(option) {
                throw CommandFailure(
                    .usage, "usage.missing-operand", "\(option.name) needs TOOL",
                    hint: "list the tools: latchkey setup")
            }
            try SetupOverview(context).write()
            return .success
        }
        if word == "kubectl" { return try KubectlSetup(arguments, context).run(arguments) }
        guard let setup = ToolSetup.named(word) else {
            throw CommandFailure(
                .usage, "setup.unknown-tool", "unknown tool",
                hint: "choose one of the tools: \(LogMessage.joined(ToolSetup.all.map { "\($0.tool)" })), kubectl")
        }
        guard !arguments.has(TokenCommand.id) else {
            throw CommandFailure(
                .usage, "setup.no-id-token", "only kubectl takes ID tokens", hint: "remove --id")
        }
        let run = try SetupRun(setup, arguments, context)
        let printsOnly = arguments.has(printing)
        if arguments.has(undo) { return try run.undo(printsOnly: printsOnly) }
        let status = try run.make(printsOnly: printsOnly)
        if !printsOnly {
            run.warnOfPath()
            if run.asksAnother {
                context.output.warn(
                    "git asks another helper too, which may answer and store secrets in its own way",
                    hint: "find it with `git config --show-origin --get-all credential.helper`, and remove it")
            }
            await warnOfUselessness(setup, context)
        }
        return status
    }

    /// Says so where the tool doesn't ask after all, or will find no store to ask.
    private static func warnOfUselessness(_ setup: ToolSetup, _ context: CommandContext) async {
        let keys = PlainFile.keysOfAWS(context.environment)
        if setup.tool.description == "aws", keys.holdsSecrets {
            context.output.warn(
                "\(keys.shown) contains keys, which take precedence for their profiles",
                hint: "store the key with latchkey set aws:PROFILE KEY-ID, and remove the key from the file")
        }
        let logins = PlainFile.all(context.environment).first { $0.tool?.description == "docker" }
        if setup.tool.description == "docker", let logins, logins.holdsSecrets {
            context.output.warn(
                "docker no longer looks at the logins in \(logins.shown)",
                hint: "move them: latchkey import --from docker --empty-source")
        }
        let choice = try? await context.selector.choose(
            named: context.namedStore, settings: context.settings.askingNobody, remembers: false)
        if choice?.backend.exists(context.settings) == true { return }
        context.output.warn(
            "no store exists yet, so \(setup.tool) finds nothing",
            hint: "create a vault: latchkey vault init")
    }
}

/// One call of `setup` for a tool.
private struct SetupRun {
    let setup: ToolSetup
    let place: ToolSetup.Place
    let file: ConfigurationFile
    let link: HelperLink?
    let records: SetupRecords
    let isConsented: Bool
    let context: CommandContext

    init(_ setup: ToolSetup, _ arguments: ParsedArguments, _ context: CommandContext) throws {
        var name = arguments.optionalOperand("NAME")
        guard name == nil || setup.tool.description == "aws" else {
            throw CommandFailure(
                .usage, "usage.too-many-operands", "only aws and kubectl take a name",
                hint: "usage: latchkey setup \(setup.tool)")
        }
        // One profile has one record, so that either command undoes the other.
        if name == "default" { name = nil }
        let options = Array(context.storeArguments.dropLast())
        guard options.isEmpty || setup.link == nil else {
            throw CommandFailure(
                .usage, "setup.no-store",
                "\(setup.tool) runs its helper without options, so --store and --vault have no effect",
                hint: "set LATCHKEY_STORE, or run `latchkey config set store NAME`")
        }
        // If the tool looks for a program by name, its configuration doesn't have a path.
        let program = try ToolSetup.Place.program(writtenWith: setup.link == nil ? options + [name ?? ""] : nil)
        self.setup = setup
        self.context = context
        place = ToolSetup.Place(
            environment: context.environment, program: program, options: options.map { " " + $0 }.joined(), name: name)
        file = ConfigurationFile(path: AbsolutePath.of(setup.file(place)))
        link = setup.link.map { HelperLink(name: $0, program: program, environment: context.environment) }
        records = SetupRecords(folder: context.environment.stateDirectory + "/setup")
        isConsented = arguments.has(.yes)
    }

    /// Says so where the tool doesn't find its helper.
    func warnOfPath() {
        guard let link, !link.isOnPath else { return }
        context.output.warn(
            "\(shown(link.path)) isn't on PATH, so \(setup.tool) can't find it", hint: "add ~/.local/bin to PATH")
    }

    /// Whether git has other helpers than ours, by its own account: its files include others. It asks one after the other,
    /// and tells each of them to store a login that worked.
    var asksAnother: Bool {
        guard setup.tool.description == "git",
            let git = DetachedProgram.path(of: "git", in: context.environment["PATH"]),
            // Independent of the repository of this folder. Written whole, the setting would look like an error's code.
            let helpers = KubectlSetup.output(of: git, ["-C", "/", "config", "--get-all", "credential" + ".helper"])
        else { return false }
        var others = false
        helpers.withExposedBytes { text in
            text.forEachLine { line, _ in
                // An empty one takes back those before it.
                others = !line.isEmpty && (others || line.publicText()?.contains("latchkey") != true)
            }
        }
        return others
    }

    /// The record's.
    private var name: String {
        ([setup.tool.description] + (place.name.map { [$0] } ?? [])).joined(separator: "-")
            .replacing("/", with: "%2F")
    }

    /// The link that another tool's set-up made under the same name: pip and uv look for one program.
    private var sharedLink: String? {
        ToolSetup.all.filter { $0.link == setup.link && $0.tool.description != setup.tool.description }
            .compactMap { records.read($0.tool.description)?.link }.first
    }

    // MARK: - Doing it

    func make(printsOnly: Bool) throws -> ExitStatus {
        if printsOnly, let (change, problem) = unwritable() {
            try show(change, isLinkShown: link != nil)
            // An obstacle's own hint may be this option.
            let own = problem.hint.flatMap { change == nil || !$0.text.contains("--print") ? $0 : nil }
            context.output.warn(
                problem.cause,
                hint: own ?? "replace the other value with this line; if the header is there, add only the line")
            return context.output.isJSON ? try tell("", "shown") : .success
        }
        let content = try file.read()
        let change = try content.withExposedBytes { text throws(CommandFailure) in try setup.change(text, place) }
        let needsLink =
            printsOnly ? link != nil : try link.map { link throws(CommandFailure) in try !link.isThere() } ?? false
        guard change != nil || needsLink else {
            return try tell("\(setup.tool) already gets its credentials from Latchkey", "none")
        }
        if !printsOnly { try refuseSecond(change, in: content) }
        try show(change, isLinkShown: needsLink)
        if printsOnly { return context.output.isJSON ? try tell("", "shown") : .success }
        try context.consent(isConsented)
        try exclusively(file) { try write(change, making: needsLink ? link : nil) }
        return try tell(
            "\(setup.tool) now gets its credentials from Latchkey; to undo: latchkey setup \(setup.tool)\(operand) --undo",
            "made")
    }

    /// The change that the person has to make, and the obstacle, if the file can't be written automatically.
    private func unwritable() -> (TextChange?, CommandFailure)? {
        let problem = failure(
            CommandFailure.self,
            of: try file.read().withExposedBytes { text throws(CommandFailure) in try setup.change(text, place) })
        return problem.map { (try? setup.change([UInt8]().span, place), $0) }
    }

    /// Refuses a second change, because the record of the first one would be lost and --undo impossible.
    private func refuseSecond(_ change: TextChange?, in content: borrowing Secret<MessageBody>) throws {
        guard change != nil, let record = records.read(name) else { return }
        let other = ConfigurationFile(path: record.file)
        // The content that was read counts for this file, because another process may have made the same change since.
        let isHere = record.file == file.path
        let isThere =
            try isHere
            ? content.withExposedBytes { record.place(in: $0) != nil }
            : other.read().withExposedBytes { record.place(in: $0) != nil }
        guard isThere else { return }
        let which: LogMessage = isHere ? "another setting" : "a setting in \(other.shown)"
        throw CommandFailure(
            .refused, "setup.other", "\(setup.tool) already gets its credentials from Latchkey, with \(which)",
            hint: "remove that setting first: latchkey setup \(setup.tool)\(operand) --undo")
    }

    /// Does what neither another set-up nor git may do at the same time.
    private func exclusively(_ file: ConfigurationFile, _ body: () throws -> Void) throws {
        try records.exclusively {
            try setup.tool.description == "git" ? file.lockedAsByGit(body) : body()
        }
    }

    private func write(_ change: TextChange?, making link: HelperLink?) throws {
        // The person, another tool's set-up or this one in another process may have written: what counts is what was
        // shown.
        let content = try file.read()
        let present = try content.withExposedBytes { text throws(CommandFailure) in try setup.change(text, place) }
        if present == nil && change != nil && link == nil { return }
        try refuseSecond(present, in: content)
        guard present?.removed == change?.removed, present?.inserted == change?.inserted else { throw changedMeanwhile }
        let change = present
        let former = records.read(name)
        let linked = link?.path ?? former?.link ?? sharedLink
        var record = SetupRecord(
            file: file.path, removed: change?.removed ?? "", inserted: change?.inserted ?? "",
            place: change?.place.lowerBound ?? 0, isNew: !FileNames.exist(file.path), link: linked)
        if change == nil, let former, former.file == file.path {
            // --undo reverts the earlier change.
            record = former
            record.link = linked
        }
        // The record comes first, so that --undo works after any failure.
        try records.write(name, record)
        var made: String?
        do {
            made = try link?.make()
            if let change { try file.write(change.applied(to: content)) }
        } catch {
            if let made { FileNames.remove(made) }
            if let former { try? records.write(name, former) } else { records.remove(name) }
            throw error
        }
    }

    private var changedMeanwhile: CommandFailure {
        CommandFailure(
            .tryAgain, "setup.busy", "another program changed \(file.shown), so setup didn't",
            hint: "run the command again")
    }

    private func tell(
        _ message: LogMessage, _ change: StaticString, in other: ConfigurationFile? = nil
    ) throws -> ExitStatus {
        try context.tell(message, change, of: setup.tool, other ?? file)
    }

    private var operand: LogMessage { place.name.map { " \(shown($0))" } ?? "" }

    /// Shows a change as diff(1) does.
    private func show(_ change: TextChange?, in other: ConfigurationFile? = nil, isLinkShown: Bool) throws {
        if context.output.isJSON { return }
        if let change {
            try context.output.write("\((other ?? file).shown):")
            try write("-", change.removed)
            try write("+", change.inserted)
        }
        if let link, isLinkShown {
            try context.output.write("\(shown(link.path)) -> \(shown(link.program))")
        }
    }

    private func write(_ sign: StaticString, _ text: String) throws {
        for line in text.replacing("\t", with: "    ").split(whereSeparator: \.isNewline) {
            try context.output.write("\(sign) \(shown(String(line)))")
        }
    }

    // MARK: - Taking it back

    func undo(printsOnly: Bool) throws -> ExitStatus {
        guard let record = records.read(name) else {
            throw CommandFailure(
                .notFound, "setup.not-done", "latchkey setup \(setup.tool)\(operand) didn't change anything here",
                hint: "list what is set up: latchkey setup")
        }
        let file = ConfigurationFile(path: record.file)
        let content = try file.read()
        let change = content.withExposedBytes { setup.undoing(record, in: $0) }
        guard change != nil || content.withExposedBytes({ setup.isGone(record, from: $0) }) else {
            throw CommandFailure(
                .refused, "setup.changed", "another program changed \(file.shown), so setup didn't",
                hint: "remove the lines that contain latchkey, then remove \(shown(records.path(name)))")
        }
        try show(change, in: file, isLinkShown: false)
        if printsOnly { return context.output.isJSON ? try tell("", "shown", in: file) : .success }
        try context.consent(isConsented)
        try exclusively(file) {
            guard try file.read().matches(content) else { throw changedMeanwhile }
            if let change {
                let former = change.applied(to: content)
                if record.isNew && former.isEmpty { file.remove() } else { try file.write(former) }
            }
            if let path = record.link, path != sharedLink,
                // Made by this copy of the program or by another one.
                FileSystem.resolving(path)?.hasSuffix("/latchkey") == true || FileNames.isBrokenLink(path)
            {
                FileNames.remove(path)
            }
            records.remove(name)
        }
        let isLeft = try file.read().withExposedBytes { text in
            // Another profile's may be there.
            setup.tool.description == "aws" ? setup.isMade(in: text, place) : setup.isDone(in: text, place)
        }
        if isLeft {
            context.output.warn(
                "\(setup.tool) still asks Latchkey, by a setting that setup didn't write",
                hint: "remove that setting yourself")
        }
        return try tell(
            isLeft ? "removed what setup had written" : "\(setup.tool) no longer uses Latchkey", "undone", in: file)
    }

    private func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "lines that setup writes hold no secret", unredacted: text)
    }
}

extension CommandContext {
    /// Asks whether to write the shown change. Throws if the answer is no, or if a question isn't possible.
    func consent(_ isGiven: Bool) throws {
        if isGiven { return }
        guard prompt.isPossible else {
            throw CommandFailure(
                .refused, "setup.not-asked", "no terminal to confirm the change",
                hint: "add --yes to write the change")
        }
        guard try prompt.confirm("Write this?") else {
            throw CommandFailure(
                .refused, "setup.kept", "nothing was changed", hint: "show the change without a question: add --print")
        }
    }
}

extension ToolSetup.Place {
    /// The path of `latchkey`.
    ///
    /// - Parameter words: the words beside the path in configurations of several syntaxes, which split at spaces; `nil`
    ///   if the configuration doesn't have the path.
    static func program(writtenWith words: [String]?) throws(CommandFailure) -> String {
        let path = ThisProgram.path
        let unfit = words.flatMap { words in
            ([path ?? ""] + words).first { !$0.utf8.allSatisfy(ASCII.isPlainInPaths) }
        }
        guard let program = path, unfit == nil else {
            throw CommandFailure(
                .refused, "setup.unusable",
                "\(CredentialName.word(unfit ?? "latchkey")) has characters that configurations would misread",
                hint: """
                    use only letters, digits and / . _ - + = : in paths and names; a vault's path can be set with \
                    `latchkey config set vault PATH` instead
                    """)
        }
        return program
    }
}

extension CommandContext {
    /// Says what was done with a tool's file, as a message or as JSON.
    func tell(
        _ message: LogMessage, _ change: StaticString, of tool: StaticString, _ file: ConfigurationFile
    ) throws -> ExitStatus {
        try output.tell(
            message,
            json: .object([
                ("tool", .message("\(tool)")), ("file", .text(file.shown)), ("change", .message("\(change)")),
            ]))
        return .success
    }
}
