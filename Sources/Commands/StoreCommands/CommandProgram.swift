internal import CLatchkeyProgramMemory
internal import Glibc
internal import LatchkeyDBus
internal import LatchkeyLog
internal import LatchkeyProcess
package import LatchkeyStoreSelection
internal import LatchkeyTerminal

/// A program of Latchkey: its commands, and what it does with those of the other program.
package struct CommandProgram: Sendable {
    private let commands: [Command]
    private let catalogue: StoreCatalogue
    private let cancelsWhenInterrupted: Bool

    /// - Parameter cancelsWhenInterrupted: whether the first Ctrl-C, SIGTERM or SIGHUP cancels the command, so that it
    ///   can put things in order, rather than ending the process at once. For commands that talk to servers; a store's
    ///   operation is whole or not there at all whenever the process ends.
    package init(commands: [Command], catalogue: StoreCatalogue, cancelsWhenInterrupted: Bool = false) {
        self.commands = commands
        self.catalogue = catalogue
        self.cancelsWhenInterrupted = cancelsWhenInterrupted
    }

    /// As `main()`, on the thread that calls it and no other. For programs whose commands never wait for two things at
    /// once.
    package func mainOnThisThread() -> Never {
        ChildMonitor.runIfAsked()
        // Before the thread opens anything: a closed standard stream's number must not go to something of ours.
        let hardening = Self.harden()
        GLibThread.run { await main(hardening, isAlone: true) }
    }

    /// Hardens the process, runs the command that its arguments name, and ends it.
    package func main() async -> Never {
        ChildMonitor.runIfAsked()
        await main(Self.harden(), isAlone: false)
    }

    private static func harden() -> HardeningReport {
        ProcessHardening.apply(
            overwritingFreedMemory: latchkey_freed_memory_is_overwritten(), bindingFunctions: latchkey_bind_functions())
    }

    /// - Parameter isAlone: whether there is one thread so far, and the others will be its own.
    private func main(_ hardening: HardeningReport, isAlone: Bool) async -> Never {
        let environment = ProgramEnvironment.current()
        // Before there is a secret.
        let live = LiveSecrets.ofThisProcess
        var output = TerminalOutput(
            program: LatchkeyGrammar.program, environment: environment, withholding: live)
        let status: ExitStatus
        do {
            try ProcessLimits.prepare()
            let given = Self.arguments()
            if let words = CompletionCall.words(given) {
                try? await CompletionCall(
                    catalogue: catalogue, environment: environment, output: output, hardening: hardening
                ).answer(words)
                exit(ExitStatus.success.rawValue)
            }
            if Self.wantsJSON(given) { output = output.inJSON() }
            let request = try LatchkeyGrammar.grammar(catalogue).parse(given)
            status = try await answer(
                request, environment: environment, output: output, hardening: hardening, isAlone: isAlone)
        } catch {
            status = Self.report(error, on: output)
        }
        SecretPrompt.restoreTerminal()
        let withheld = live.withheldTextCount
        if withheld > 0 {
            let lines = LogMessage.counted(withheld, "line", "lines")
            output.warn(
                "a secret that is in use stood in \(lines) of messages or logs, withheld for that",
                hint: "another program, such as a server, sent it back as ordinary text: see which one")
        }
        exit((status == .interrupted ? Interruption.exitStatus ?? status : status).rawValue)
    }

    /// The arguments; before them the words of the helper that the program was called by the name of.
    private static func arguments() -> [[UInt8]] {
        let helper = HelperDefinitions.programs.first {
            ProgramArguments.programName == Array($0.name.description.utf8)
        }
        return (helper?.command.words ?? []).map { Array($0.description.utf8) } + ProgramArguments.current()
    }

    /// Whether `--json` stands among the arguments, for errors of a command line that can't be read. What comes after
    /// `--`, or belongs to the program that `run` starts, is another program's.
    private static func wantsJSON(_ arguments: [[UInt8]]) -> Bool {
        let own = arguments.prefix { $0 != Array("--".utf8) }
        return own.contains(Array(GlobalOptions.json.name.text.utf8)) && own.first != Array("run".utf8)
    }

    private func answer(
        _ request: CommandLineRequest, environment: ProgramEnvironment, output: TerminalOutput,
        hardening: HardeningReport, isAlone: Bool
    ) async throws -> ExitStatus {
        switch request {
        case .help(let text):
            try output.write(text)
        case .introduction(let text):
            output.explain(text)
            return .usage
        case .version:
            try output.write("\(LatchkeyGrammar.program) \(LatchkeyGrammar.version)")
        case .run(let arguments):
            guard let command = command(for: arguments) else {
                try OtherProgram.work(arguments)
            }
            let output = arguments.has(GlobalOptions.json) ? output.inJSON() : output
            var hardening = hardening
            if isAlone && !command.startsPrograms { ProcessHardening.forbidNewPrivileges(&hardening) }
            do {
                let context = try CommandContext(
                    arguments: arguments, environment: environment, output: output, catalogue: catalogue,
                    hardening: hardening)
                context.logger.debug("\(hardening)")
                return try await run(command, arguments, context)
            } catch {
                guard let reportsError = command.reportsError else { throw error }
                return reportsError(Self.commandError(error), output)
            }
        }
        return .success
    }

    private func command(for arguments: ParsedArguments) -> Command? {
        commands.first { $0.definition.name == arguments.command.name && $0.takes(arguments) }
    }

    private func run(
        _ command: Command, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> ExitStatus {
        let work = {
            @Sendable () async throws -> ExitStatus in
            do {
                return try await command.run(arguments, context)
            } catch {
                throw context.settings.explained(error)
            }
        }
        guard cancelsWhenInterrupted else { return try await work() }
        // It begins when a signal would be heard.
        let (hears, begins) = AsyncStream.makeStream(of: Never.self)
        let task = Task {
            for await _ in hears {}
            return try await work()
        }
        Interruption.onFirst { [logger = context.logger] in
            task.cancel()
            logger.debug("asked to stop; what is under way is put in order first")
        }
        begins.finish()
        return try await task.value
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
        default: CommandFailure(.internalError, "internal.unexpected", "an unexpected error occurred")
        }
    }
}
