internal import CLatchkeyLinux
internal import CLatchkeyProgramMemory
internal import Glibc
internal import LatchkeyDBus
internal import LatchkeyJSON

/// The program: its commands, and how one of them is run.
package struct CommandProgram: Sendable {
    private let commands: [Command]
    private let catalogue: StoreCatalogue

    package init(commands: [Command], catalogue: StoreCatalogue) {
        self.commands = commands
        self.catalogue = catalogue
    }

    /// Hardens the process, runs the command that its arguments name, and ends it. To be called first, on the main
    /// thread.
    package func main() -> Never {
        // This must come before the thread opens a file, which would get the number of a closed standard stream.
        ProcessRole.begin()
        var hardening = ProcessHardening.apply(
            overwritingFreedMemory: latchkey_freed_memory_is_overwritten(), bindingFunctions: latchkey_bind_functions())
        let environment = ProgramEnvironment.current()
        // Before there is a secret.
        let live = LiveSecrets.ofThisProcess
        var output = TerminalOutput(
            program: LatchkeyGrammar.program, environment: environment, withholding: live)
        do {
            try ProcessLimits.prepare()
            let given = arguments
            if let words = CompletionCall.words(given) {
                let call = CompletionCall(
                    commands: commands, catalogue: catalogue, environment: environment, output: output,
                    hardening: hardening)
                LoadableLibrary.permit(only: Command.librariesOfStores)
                GLibThread.run {
                    try? await call.answer(words)
                    exit(ExitStatus.success.rawValue)
                }
            }
            let plain = output
            if Self.wantsJSON(given) { output = plain.inJSON() }
            switch try LatchkeyGrammar.grammar(of: commands, catalogue).parse(given) {
            case .help(let text):
                try output.write(text)
            case .introduction(let text):
                output.explain(text)
                end(.usage, output)
            case .version:
                try output.write("\(LatchkeyGrammar.program) \(LatchkeyGrammar.version)")
            case .run(let arguments):
                guard let command = commands.first(where: { $0.definition.name == arguments.command.name }) else {
                    preconditionFailure("the grammar is that of the commands")
                }
                // The word may belong to the arguments of a program that this command starts.
                output = arguments.has(GlobalOptions.json) ? plain.inJSON() : plain
                let vault = catalogue.backends.first { $0.name.description == "vault" }.flatMap(GlobalOptions.place)
                if let path = vault.flatMap(arguments.value) {
                    output = output.naming(vault: CredentialName.word(path))
                }
                // The process has only this thread so far.
                if !command.startsPrograms { ProcessHardening.forbidNewPrivileges(&hardening) }
                try run(command, arguments, environment, output, hardening)
            }
            end(.success, output)
        } catch {
            end(Self.report(error, on: output), output)
        }
    }

    private func run(
        _ command: Command, _ arguments: ParsedArguments, _ environment: ProgramEnvironment, _ output: TerminalOutput,
        _ hardening: HardeningReport
    ) throws(CommandFailure) -> Never {
        let run = CommandRun(
            command: command, arguments: arguments, environment: environment, output: output, catalogue: catalogue,
            hardening: hardening)
        let execution = command.execution(of: arguments)
        LoadableLibrary.permit(only: command.libraries(on: execution))
        switch execution {
        case .oneThread: GLibThread.run { end(await status(of: run, isCancellable: false), output) }
        case .elsewhere(let start): try start(arguments)
        case .pool, .service:
            // One works at a time, and each heap would keep what it was once given.
            if case .service = execution { latchkey_use_one_heap() }
            Task.detached { end(await status(of: run, isCancellable: true), output) }
            while true { pause() }
        }
    }

    private func status(of run: CommandRun, isCancellable: Bool) async -> ExitStatus {
        do {
            return try await run(isCancellable: isCancellable)
        } catch {
            guard let reportsError = run.command.reportsError else { return Self.report(error, on: run.output) }
            return reportsError(Self.commandError(error), run.output)
        }
    }

    /// Ends the process.
    private func end(_ status: ExitStatus, _ output: TerminalOutput) -> Never {
        SecretPrompt.restoreTerminal()
        let withheld = LiveSecrets.ofThisProcess.withheldTextCount
        if withheld > 0 {
            let lines = LogMessage.counted(withheld, "line", "lines")
            output.warn(
                "a secret that is in use stood in \(lines) of messages or logs, withheld for that",
                hint: "another program, such as a server, sent it back as ordinary text: see which one")
        }
        if status == .interrupted, !SignalEffect.isIgnored(SIGINT) {
            // A shell's script ends if a command in it ends by the signal, not if it exits with 130.
            if SecretPrompt.hasReadInterrupt {
                // The terminal would have sent the signal to the whole group.
                signal(SIGINT, SIG_DFL)
                kill(0, SIGINT)
            } else if Interruption.exitStatus == .interrupted {
                signal(SIGINT, SIG_DFL)
                raise(SIGINT)
            }
        }
        exit((status == .interrupted ? Interruption.exitStatus ?? status : status).rawValue)
    }

    /// The arguments; before them the words of the command that has the name by which the program was called.
    private var arguments: [[UInt8]] {
        let name = ProgramArguments.programName
        if name == Array(LatchkeyGrammar.program.description.utf8) { return ProgramArguments.current() }
        let called = commands.first { $0.calledAs.map { Array($0.description.utf8) == name } ?? false }
        return (called?.definition.words ?? []).map { Array($0.description.utf8) } + ProgramArguments.current()
    }

    /// Whether the arguments contain `--json`, for errors of a command line that can't be read. Words after `--`, and words
    /// of the program that `run` starts, don't count.
    private static func wantsJSON(_ arguments: [[UInt8]]) -> Bool {
        let own = arguments.prefix { $0 != Array("--".utf8) }
        return own.contains(Array(GlobalOptions.json.name.text.utf8)) && own.first != Array("run".utf8)
    }

    /// Says what went wrong, and returns the status for it.
    private static func report(_ error: any Error, on output: TerminalOutput) -> ExitStatus {
        let error = commandError(error)
        output.report(error)
        return ExitStatus(error)
    }

    private static func commandError(_ error: any Error) -> any RedactedError {
        switch error {
        case let error as any RedactedError: error
        // An answer in JSON can't be made of any secret: all bytes can be stored.
        case is JSONError:
            CommandFailure(
                .badData, "helper.not-text", "what is stored isn't text, or is too long for this tool",
                hint: "save another secret in its place")
        default: CommandFailure(.internalError, "internal.unexpected", "an unexpected error occurred")
        }
    }
}

/// A command with all that it is run with.
private struct CommandRun: Sendable {
    let command: Command
    let arguments: ParsedArguments
    let environment: ProgramEnvironment
    let output: TerminalOutput
    let catalogue: StoreCatalogue
    let hardening: HardeningReport

    /// - Parameter isCancellable: whether a signal cancels it, in place of ending the process at once.
    func callAsFunction(isCancellable: Bool) async throws -> ExitStatus {
        let context = try CommandContext(
            arguments: arguments, environment: environment, output: output, catalogue: catalogue, hardening: hardening)
        context.logger.debug("\(hardening)")
        let work = {
            @Sendable () async throws -> ExitStatus in
            do {
                return try await command.run(arguments, context)
            } catch {
                throw context.settings.explained(error)
            }
        }
        guard isCancellable else { return try await work() }
        // It begins when a signal would be heard.
        let (hears, begins) = AsyncStream.makeStream(of: Never.self)
        let task = Task {
            for await _ in hears {}
            return try await work()
        }
        Interruption.onFirst { [logger = context.logger] in
            task.cancel()
            logger.debug("stopping after the current step")
        }
        begins.finish()
        return try await task.value
    }
}
