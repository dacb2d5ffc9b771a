internal import Glibc

/// The request of a command line of `run`, before a store is opened.
package struct RunRequest: Sendable {
    /// The provider whose access token the program gets, and the variable for it.
    package let provider: String?
    package let tokenVariable: String?
    /// The variables of files, then those of options.
    package let fromFiles: [ChildVariable]
    package let fromOptions: [ChildVariable]
    let isMasked: Bool
    /// The program's arguments, with its name first.
    let arguments: [String]

    /// Reads files of variables, too.
    package init(_ arguments: ParsedArguments) throws {
        let (provider, words) = try Self.split(arguments)
        self.provider = provider
        let assignments = arguments.all(RunCommand.variable).map(VariableName.split)
        let names = assignments.filter { $0.value == nil }
        guard names.count < 2 else {
            throw CommandFailure(
                .usage, "usage.repeated-option", "only one --env can be without a secret",
                hint: "set one --env NAME for PROVIDER's token; write the others as --env NAME=SERVICE/ACCOUNT")
        }
        if let name = names.first, provider == nil {
            throw CommandFailure(
                .usage, "usage.missing-operand",
                "--env\(Self.shown(name.name).map { " \($0)" as LogMessage } ?? "") lacks a secret",
                hint: "write --env NAME=SERVICE/ACCOUNT, or PROVIDER before --")
        }
        for option in [SignInOptions.account, SignInOptions.certificateAuthority] where provider == nil {
            guard !arguments.has(option) else {
                throw CommandFailure(
                    .usage, "usage.missing-operand", "\(option.name) needs PROVIDER",
                    hint: "remove \(option.name), or write PROVIDER before --")
            }
        }
        guard provider != nil || Self.namesSecrets(arguments) else {
            throw CommandFailure(
                .usage, "usage.missing-operand",
                "run needs a secret for the program: --env, --env-file, --file or PROVIDER",
                hint: "write --env NAME=SERVICE/ACCOUNT, or PROVIDER before --")
        }
        tokenVariable = names.first.map { String($0.name) }
        fromOptions =
            try assignments.filter { $0.value != nil }.map { try Self.variable($0, "--env") { .secret($0) } }
            + arguments.all(RunCommand.file).map(VariableName.split).map {
                try Self.variable($0, "--file") { .file($0) }
            }
        fromFiles = try arguments.all(RunCommand.environmentFile).flatMap { try Self.variables(inFileAt: $0) }
        isMasked = arguments.has(RunCommand.mask)
        self.arguments = words
    }

    package var namesStoredSecrets: Bool { (fromFiles + fromOptions).contains { $0.isSecret } }

    // MARK: - The command line

    /// Whether PROVIDER is set: then the work needs the network.
    static func hasProvider(_ arguments: ParsedArguments) -> Bool { (try? split(arguments))?.provider != nil }

    /// If the command line names stored secrets or begins with `--`, PROVIDER is the word before `--`, if there is one.
    /// Otherwise PROVIDER is the first word.
    private static func split(_ arguments: ParsedArguments) throws(CommandFailure) -> (
        provider: String?, words: [String]
    ) {
        let usage: LogMessage = "usage: latchkey run [PROVIDER] [--env NAME=SERVICE/ACCOUNT] -- COMMAND..."
        let words = arguments.operands
        guard namesSecrets(arguments) || arguments.separation == 0 else {
            guard words.count > 1 else {
                throw CommandFailure(.usage, "usage.missing-operand", "COMMAND is missing", hint: usage)
            }
            return (words[0], Array(words.dropFirst()))
        }
        guard let separation = arguments.separation else {
            throw CommandFailure(.usage, "usage.missing-operand", "-- is missing before COMMAND", hint: usage)
        }
        guard separation < 2 else {
            throw CommandFailure(
                .usage, "usage.too-many-operands", "more than PROVIDER is before --", hint: usage)
        }
        guard words.count > separation else {
            throw CommandFailure(.usage, "usage.missing-operand", "COMMAND is missing", hint: usage)
        }
        return (separation == 0 ? nil : words[0], Array(words.dropFirst(separation)))
    }

    private static func namesSecrets(_ arguments: ParsedArguments) -> Bool {
        arguments.has(RunCommand.environmentFile) || arguments.has(RunCommand.file)
            || arguments.all(RunCommand.variable).contains { $0.utf8.contains(UInt8(ascii: "=")) }
    }

    private static func variable(
        _ assignment: (name: Substring, value: Substring?), _ option: LogMessage,
        _ kind: (CredentialName) -> ChildVariable.Value
    ) throws(CommandFailure) -> ChildVariable {
        // An invalid reference isn't repeated, because it may be a secret in the wrong place.
        guard let name = SecretReference.name(of: assignment.value ?? "") else {
            throw CommandFailure(
                .usage, "usage.bad-value",
                "\(option)\(shown(assignment.name).map { " \($0)" as LogMessage } ?? "") doesn't name a stored secret",
                hint: "write NAME=SERVICE/ACCOUNT, with %2F for a slash in ACCOUNT, and %25 for a percent sign")
        }
        return ChildVariable(String(assignment.name), kind(name))
    }

    // MARK: - Files of variables

    private static func variables(inFileAt path: String) throws -> [ChildVariable] {
        let shown = LoggableText(reviewed: "a path on the command line", unredacted: path)
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw unreadable(shown, errno) }
        defer { close(descriptor) }
        let bytes = try mapError(
            { (error: SystemErrorNumber) in unreadable(shown, error.number) },
            of: DescriptorBytes.all(of: descriptor, limit: EnvironmentFile.maximumByteCount))
        return try mapError(
            { (error: EnvironmentFile.Malformed) in malformed(shown, error) }, of: EnvironmentFile.variables(in: bytes))
    }

    private static func unreadable(_ path: LoggableText, _ number: Int32) -> CommandFailure {
        let why: LogMessage = number == EFBIG ? "it is larger than 1 MiB" : "\(SystemErrorNumber(number))"
        return CommandFailure(
            .badData, "run.env-file", "can't read the file of variables \"\(path)\": \(why)",
            hint: "use a readable file of NAME=VALUE lines")
    }

    private static func malformed(_ path: LoggableText, _ error: EnvironmentFile.Malformed) -> CommandFailure {
        let why: LogMessage =
            switch error.problem {
            case .syntax: "isn't NAME=VALUE"
            case .encoding: "isn't UTF-8"
            case .reference: "doesn't name a stored secret"
            }
        return CommandFailure(
            .badData, "run.env-file", "line \(error.line) of \(path) \(why)",
            hint: error.problem == .reference
                ? "write latchkey://SERVICE/ACCOUNT, with %2F for a slash in ACCOUNT, and %25 for a percent sign"
                : "see which lines are allowed: latchkey run --help")
    }

    // MARK: - The program

    /// The program's path.
    func path(_ context: CommandContext) throws(CommandFailure) -> String {
        try Self.path(of: arguments[0], in: context.environment["PATH"])
    }

    static func path(of name: String, in folders: String?) throws(CommandFailure) -> String {
        let path = DetachedProgram.path(of: name, in: folders)
        if let path, unsafe access(path, X_OK) == 0 { return path }
        let number = errno
        guard let path, number != ENOENT, number != ENOTDIR else {
            throw CommandFailure(
                .notFound, "run.not-found", "the program \(program(name)) doesn't exist",
                hint: "use the program's path, or install the program", exitStatus: .programNotFound)
        }
        throw notStarted(
            name, number, isOwnFile: (try? FileStatus.of(path)).map { $0.isOwn && $0.isRegularFile } ?? false)
    }

    private static func program(_ name: String) -> LogMessage {
        "\"\(LoggableText(reviewed: "the name of a program on the command line", unredacted: name))\""
    }

    /// As env(1) and shells tell the two apart: 127 for a program that isn't there, 126 for one that can't be started.
    ///
    /// - Parameter isOwnFile: whether the user may change the mode of the program's file, which isn't executable.
    static func notStarted(_ name: String, _ number: Int32, isOwnFile: Bool = false) -> CommandFailure {
        let (why, hint): (LogMessage, LogMessage?) =
            switch number {
            // execve(2): the file itself was found.
            case ENOENT: ("its interpreter doesn't exist", "correct the path in the program's first line")
            case E2BIG:
                (
                    "its arguments and variables are too long together",
                    "pass long secrets with the option --file of `latchkey run`"
                )
            case EACCES where isOwnFile:
                ("\(SystemErrorNumber(number))", "run `chmod u+x \(CredentialName.word(name))`")
            default: ("\(SystemErrorNumber(number))", nil)
            }
        return CommandFailure(
            .unavailable, "run.not-started", "can't start \(program(name)): \(why)", hint: hint,
            exitStatus: .programNotStarted)
    }

    /// The name of a variable in an error, if it looks like a name. Other text may be a secret in the wrong place.
    static func shown(_ name: some StringProtocol) -> LogMessage? {
        let isUsual = { (byte: UInt8) in (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F }
        guard (1...40).contains(name.utf8.count), name.utf8.allSatisfy(isUsual) else { return nil }
        return
            "\(LoggableText(reviewed: "upper-case letters and digits where a name is expected", unredacted: String(name)))"
    }
}
