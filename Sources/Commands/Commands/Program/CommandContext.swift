internal import LatchkeyVault

/// The context of a command. `CommandProgram` has the defaults; tests make their own.
package struct CommandContext: Sendable {
    package let environment: ProgramEnvironment
    package let output: TerminalOutput
    package let prompt: SecretPrompt
    package let logger: RedactedLogger
    package private(set) var settings: StoreSettings
    package let selector: StoreSelector
    /// The store that the arguments, the environment or the configuration name.
    package let namedStore: NamedStore?
    /// Whether the command stores something new, and so offers to create a vault if no store exists.
    let offersVault: Bool
    /// Whether the command searches every store.
    package let usesAllStores: Bool
    package let configurationFolder: String
    /// The options that choose the store, for processes that this one starts.
    package let storeArguments: [String]
    /// `--timeout`, if it is set: the time limit for a server. At a sign-in, `--timeout` is the person's time limit,
    /// and a server's is 30 seconds at most.
    let requestTimeout: Duration?
    /// The options for a worker that does a part of this command.
    let workerArguments: [String]
    /// The problem with the configuration, if the command works without it.
    let configurationProblem: CommandFailure?
    /// The measures that protect this process.
    package let hardening: HardeningReport

    /// The moment at which an operation that starts now gives up.
    package var deadline: Deadline { settings.deadline }

    /// The same settings without questions: opening fails where it would ask.
    var askingNobody: CommandContext {
        var context = self
        context.settings = settings.askingNobody
        return context
    }

    /// Opens the chosen store.
    package func openStore() async throws -> any CredentialStore { try await openStore(settings) }

    /// Opens the chosen store to copy into it: all items of a vault are compared with its manifest, however many.
    package func openStoreToCopyInto() async throws -> any CredentialStore {
        var settings = settings
        settings.vaultItemCheck = .always
        return try await openStore(settings)
    }

    private func openStore(_ settings: StoreSettings) async throws -> any CredentialStore {
        try await orOffered { () async throws(StoreSelectionError) in
            StoreView([try await selector.open(named: namedStore, settings: settings).store])
        }.stores[0]
    }

    private func orOffered(_ open: () async throws(StoreSelectionError) -> StoreView) async throws -> StoreView {
        do throws(StoreSelectionError) {
            return try await open()
        } catch {
            return StoreView([try await vaultOrThrow(error)])
        }
    }

    /// Opens all stores if the command reads all, otherwise only the chosen one.
    package func openView() async throws -> StoreView {
        guard usesAllStores else { return StoreView([try await openStore()]) }
        return try await orOffered { () async throws(StoreSelectionError) in
            try await selector.openAll(named: namedStore, settings: settings)
        }
    }
}

extension CommandContext {
    /// Takes the world as arguments, environment and configuration describe it.
    package init(
        arguments: ParsedArguments, environment: ProgramEnvironment, output: TerminalOutput, catalogue: StoreCatalogue,
        hardening: HardeningReport
    ) throws {
        try Self.check(environment)
        // This must come before anything here opens a file, which would get a closed descriptor's number.
        let passphrase = try arguments.passedDescriptor(GlobalOptions.passphraseDescriptor)
        let folder = environment["LATCHKEY_CONFIG"] ?? environment.configurationDirectory
        func context(
            _ configuration: StoreConfiguration, _ problem: CommandFailure? = nil
        ) throws -> CommandContext {
            try CommandContext(
                arguments: arguments, environment: environment, output: output, catalogue: catalogue,
                hardening: hardening, passphrase: passphrase, folder: folder, configuration: configuration,
                problem: problem)
        }
        do {
            self = try context(
                try StoreConfiguration(
                    readingFileAt: folder + "/config", isNamed: environment["LATCHKEY_CONFIG"] != nil,
                    home: environment.home, catalogue: catalogue))
        } catch let error as CommandFailure where error.kind == .configuration {
            // The doctor says what is wrong, and `config set` may correct it.
            guard ["doctor", "config set"].contains(arguments.command.name) else { throw error }
            self = try context(StoreConfiguration(), error)
        }
    }

    private init(
        arguments: ParsedArguments, environment: ProgramEnvironment, output: TerminalOutput, catalogue: StoreCatalogue,
        hardening: HardeningReport, passphrase: PassedDescriptor?, folder: String, configuration: StoreConfiguration,
        problem: CommandFailure?
    ) throws {
        let mayPrompt = !arguments.has(GlobalOptions.noPrompt) && !arguments.command.isHelper
        // A command that serves a keyring runs long after its question, while other programs use the terminal.
        let prompt = SecretPrompt(
            isAllowed: mayPrompt, keepsEchoOff: !["keyring run", "keyring serve"].contains(arguments.command.name))
        SecretPrompt.sayWhenInterrupted(output.text(of:))
        if !arguments.command.isHelper { output.showWaits() }
        let logger = Self.logger(arguments, environment, output)

        self.environment = environment
        self.output = output
        offersVault = ["set", "generate", "sign-in", "import"].contains(arguments.command.name)
        self.prompt = prompt
        self.logger = logger
        configurationFolder = folder
        storeArguments = GlobalOptions.storeArguments(arguments, catalogue)
        configurationProblem = problem
        let timeout = arguments.seconds(GlobalOptions.timeout)
        requestTimeout = arguments.command.name == "sign-in" ? timeout.map { min($0, .seconds(30)) } : timeout
        workerArguments =
            storeArguments
            + (arguments.value(GlobalOptions.timeout).map { ["\(GlobalOptions.timeout.name)=\($0)"] } ?? [])
        self.hardening = hardening
        let namings = StoreNaming.all(arguments, environment, configuration, catalogue)
        var settings = StoreSettings(
            vaultPath: try VaultLocation.checked(namings.places["vault"] ?? environment.dataDirectory + "/vault"),
            vaultKey: Self.vaultKey(
                passphrase, environment, configuration, prompt,
                hint: arguments.command.isHelper
                    ? nil : UnlockHint(environment, command: arguments.command.name, output: output)),
            vaultMemory: RollbackMemory(directory: environment.stateDirectory + "/vaults", logger: logger),
            mayPrompt: mayPrompt,
            timeout: timeout ?? .seconds(30),
            leases: .standard,
            hasDisplay: environment.hasDisplay,
            collection: try namings.collection(),
            mayCreateCollection: arguments.has(GlobalOptions.createCollection), logger: logger)
        settings.places = namings.places
        self.settings = settings
        selector = StoreSelector(
            catalogue: catalogue, remembered: RememberedChoice(path: environment.stateDirectory + "/store"),
            logger: logger)
        namedStore = try namings.store(in: catalogue)
        // A store on the command line is the only one, whatever the configuration says.
        usesAllStores =
            arguments.has(GlobalOptions.allStores)
            || configuration.usesAllStores && namedStore?.source != .argument
    }

    /// Throws for a variable with a location that can't be read: without the error a secret would go elsewhere.
    private static func check(_ environment: ProgramEnvironment) throws(CommandFailure) {
        guard let name = environment.illegibleNames.sorted().first(where: ProgramEnvironment.saysWhere) else { return }
        let shown = LoggableText(reviewed: "the name of an environment variable", unredacted: name)
        throw CommandFailure(
            .configuration, "environment.invalid-utf-8", "the environment variable \(shown) is not valid UTF-8",
            hint: "set it to a path in UTF-8")
    }

    private static func logger(
        _ arguments: ParsedArguments, _ environment: ProgramEnvironment, _ output: TerminalOutput
    ) -> RedactedLogger {
        let level = LogLevel.allCases.first { $0.name.description == arguments.value(GlobalOptions.logLevel) }
        let sink: any LogSink =
            switch arguments.value(GlobalOptions.logFormat) {
            case "json": TextLogSink(format: .json)
            case "journal": journal(environment, output)
            default: TextLogSink()
            }
        let scrubbed = ScrubbingLogSink(over: sink, secrets: .ofThisProcess)
        return RedactedLogger("latchkey.command", minimumLevel: level ?? .warning, sink: scrubbed)
    }

    /// Returns the journal, or standard error with a note if the journal doesn't exist.
    private static func journal(_ environment: ProgramEnvironment, _ output: TerminalOutput) -> any LogSink {
        do throws(JournalUnavailable) {
            return try JournalLogSink(
                socketPath: environment["LATCHKEY_JOURNAL"] ?? JournalLogSink.standardSocketPath,
                reporting: { output.note("warning: \($0)") })
        } catch {
            output.note("warning: \(error); the log goes to standard error")
            return TextLogSink()
        }
    }

    /// - Parameter hint: `nil` if the person must not be asked.
    private static func vaultKey(
        _ passphrase: PassedDescriptor?, _ environment: ProgramEnvironment, _ configuration: StoreConfiguration,
        _ prompt: SecretPrompt, hint: UnlockHint?
    ) -> StoreSettings.VaultKey {
        if let passphrase { return .passphraseDescriptor(passphrase.number) }
        if let named = StoreSettings.VaultKey.named(in: environment) { return named }
        if let path = configuration.keyFile { return .keyFile(path: AbsolutePath.of(path)) }
        if let path = configuration.passphraseFile { return .passphraseFile(path: AbsolutePath.of(path)) }
        return .search(
            VaultKeySearch(
                credentialsDirectory: environment["CREDENTIALS_DIRECTORY"], keyFiles: RememberedKeyFiles(environment)
            ) {
                (attempt) throws(StoreError) -> Secret<Passphrase> in
                guard let hint else {
                    throw StoreError(.locked, "the vault is locked", hint: "\(Recovery.unlockVault)")
                }
                hint.giveOnce(prompt)
                return try prompt.askForPassphrase(
                    "Passphrase of the vault", attempt: attempt,
                    otherwise: """
                        unlock the vault first with `latchkey vault unlock`, or set LATCHKEY_PASSPHRASE_FILE to the path of a \
                        passphrase file
                        """)
            })
    }
}

extension SecretPrompt {
    /// Asks for the passphrase of a vault. Throws the vault's error if there is no answer.
    ///
    /// - Parameters:
    ///   - attempt: from 1. If it isn't the first, the person first reads that the passphrase was wrong.
    ///   - locked: the beginning of the error if no person can be asked.
    ///   - otherwise: the way to pass the passphrase without a question, for the hint.
    ///   - stopping: as in `ask`.
    package func askForPassphrase(
        _ question: LogMessage, attempt: Int = 1, locked: LogMessage = "the vault is locked",
        otherwise: LogMessage = "set LATCHKEY_PASSPHRASE_FILE to the path of a passphrase file",
        stopping: () -> PromptError.Problem? = { nil }
    ) throws(StoreError) -> Secret<Passphrase> {
        if attempt > 1 {
            try? show("Wrong passphrase. Try again (\(attempt) of \(VaultKeySearch.attemptCount)).")
        }
        return try mapError(
            { (error: PromptError) in StoreError(prompt: error, locked: locked, otherwise: otherwise) },
            of: ask(question, as: Passphrase.self, stopping: stopping))
    }
}

extension CommandDefinition {
    /// Whether another program asks, which can't answer questions.
    var isHelper: Bool { words[0].description == "helper" }
}
