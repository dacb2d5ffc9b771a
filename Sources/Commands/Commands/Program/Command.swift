// Each file of this module sees these modules, because a re-export counts as an import in all of them. A file imports
// the network and sign-in itself: HouseTests checks which files do.
@_exported public import LatchkeyCommandLine
@_exported public import LatchkeyCredentials
@_exported public import LatchkeyLog
@_exported public import LatchkeyProcess
@_exported public import LatchkeyStoreSelection

/// A command: its definition and its work.
///
/// An error of the work ends the program with the error's message, hint and status.
package struct Command: Sendable {
    /// Where a command's work is done.
    package enum Execution: Sendable {
        /// On this thread and no other. For what never waits for two things at once: a store's operation is whole or
        /// not there at all whenever the process ends, so that a signal ends it at once.
        case oneThread
        /// On threads of the pool. The first Ctrl-C, SIGTERM or SIGHUP cancels the command, so that it can put things in
        /// order.
        case pool
        /// As `pool`, in a process that stays for days.
        case service
        /// In another process, which this one starts before opening anything. This process ends like that one, or
        /// becomes another program.
        case elsewhere(@Sendable (ParsedArguments) throws(CommandFailure) -> Never)

        /// On the pool of a separate process, so that killing this process loses nothing.
        package static let worker = elsewhere { _ throws(CommandFailure) in
            ChildProcess.end(like: try WorkerProcess.run())
        }
    }

    package let definition: CommandDefinition
    /// The name of a link to this program by which the command is called too.
    package let calledAs: StaticString?
    private let runs: @Sendable (ParsedArguments) -> Execution
    /// Whether it may load what talks to servers and browsers, too: in a worker, or where there is a pool. On one thread
    /// it may load what a store's command may.
    package let usesNetwork: Bool
    /// Whether it starts programs that are not Latchkey's.
    package let startsPrograms: Bool
    /// Says what went wrong in another program's words; `nil` where a person reads it.
    package let reportsError: (@Sendable (any RedactedError, TerminalOutput) -> ExitStatus)?
    package let run: @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus

    /// - Parameters:
    ///   - words, topic, summary, operands, options, details, examples: as `CommandDefinition` has them.
    ///   - calledAs: a name that the program can be called by in place of the words.
    ///   - runs: where its work is done.
    package init(
        _ words: StaticString..., topic: CommandTopic? = nil, summary: StaticString,
        operands: @escaping @autoclosure @Sendable () -> [CommandOperand] = [],
        options: @escaping @autoclosure @Sendable () -> [CommandOption] = [], details: StaticString = "",
        examples: @escaping @autoclosure @Sendable () -> [StaticString] = [], calledAs: StaticString? = nil,
        runs: @escaping @Sendable (ParsedArguments) -> Execution = { _ in .oneThread }, usesNetwork: Bool = false,
        startsPrograms: Bool = false,
        reportsError: (@Sendable (any RedactedError, TerminalOutput) -> ExitStatus)? = nil,
        run: @escaping @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus
    ) {
        definition = CommandDefinition(
            words, topic: topic, summary: summary, operands: operands(), options: options(), details: details,
            examples: examples())
        self.calledAs = calledAs
        self.runs = runs
        self.usesNetwork = usesNetwork
        self.startsPrograms = startsPrograms
        self.reportsError = reportsError
        self.run = run
    }

    /// The libraries that the process may load beside the linked ones. The loader refuses all others.
    package func libraries(on execution: Execution) -> [LoadableLibrary] {
        switch execution {
        case .pool where usesNetwork: LoadableLibrary.allCases
        case .elsewhere: []
        default: Self.librariesOfStores
        }
    }

    /// The libraries of stores. libpq loads libcrypto, which also serves a keyring and opens files of other programs.
    package static let librariesOfStores: [LoadableLibrary] = [.glib, .libsecret, .libpq, .crypto]

    /// Returns the place of the work for some arguments, in this process.
    func execution(of arguments: ParsedArguments) -> Execution {
        switch ProcessRole.current?.role {
        case .worker: .pool
        case .keyringService: .service
        default: runs(arguments)
        }
    }
}

/// The commands of `latchkey`, in the order of its help.
package enum CommandTable {
    package static let all: [Command] = [
        SignInCommand.command, SignOutCommand.command, AccountsCommand.command, UseCommand.command,
        TokenCommand.command, RequestCommand.command, ProviderAddCommand.command, ProviderListCommand.command,
        ProviderRemoveCommand.command, SchemeCommand.add, SchemeCommand.list, SchemeCommand.remove,
        SchemeCommand.receive, ImportCommand.command,
        SetupCommand.command, GitHelper.command, DockerHelper.command, CargoHelper.command, KeyringHelper.command,
        KubectlHelper.command, HeadersHelper.command, AWSHelper.command, GoHelper.command, TerraformHelper.command,
        AskpassHelper.command,
        SystemdHelper.command,
        ServeCommand.command, KeyringRunCommand.command, EnableCommand.enable, EnableCommand.disable,
        AgentCommand.command, StatusCommand.command,
        SetCommand.command, GetCommand.command, DeleteCommand.command, ListCommand.command,
        GenerateCommand.command, RenameCommand.command, EditCommand.command,
        TransferCommand.copy, TransferCommand.move, DoctorCommand.command,
        VaultInitCommand.command, VaultUnlockCommand.command, VaultLockCommand.command,
        VaultStatusCommand.command, VaultPasswdCommand.command,
        VaultSlotsCommand.command, VaultAddSlotCommand.command, VaultRemoveSlotCommand.command,
        VaultNewKeyCommand.command, VaultExportCommand.command, VaultImportCommand.command,
        VaultRekeyCommand.command, VaultSchemaCommand.command, VaultVerifyCommand.command,
        VaultAcceptRollbackCommand.command,
        ListCommand.search, RunCommand.command, ConfigCommand.get, ConfigCommand.set, ConfigCommand.list,
        CompletionsCommand.command,
    ]
}
