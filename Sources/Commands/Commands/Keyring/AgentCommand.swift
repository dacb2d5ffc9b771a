internal import Glibc
internal import LatchkeyDBus
internal import LatchkeyKeyringService
internal import Synchronization

/// `latchkey keyring agent`: this terminal asks its person when a program wants the served keyring unlocked.
enum AgentCommand {
    private static let question: LogMessage = "Passphrase of the vault"

    static let command = Command(
        "keyring", "agent",
        summary: "ask for the passphrase at this terminal when a program needs the keyring",
        details: """
            agent runs until a signal or the end of the keyring stops it. The passphrase goes to the keyring directly, not over the bus.
            A program that searches a locked keyring waits for the passphrase. Many programs give up after 25 seconds; they find the item
            at their next try, once you have typed the passphrase. Without an agent they get an error: run `latchkey vault unlock`.
            """,
        examples: ["latchkey keyring agent"], runs: { _ in .pool }
    ) { _, context in
        guard let address = context.sessionBus else { throw CommandFailure.noBus }
        let prompt = context.prompt
        guard prompt.isAllowed else {
            throw PromptError(problem: .forbidden, question: question)
        }
        guard prompt.isPossible else {
            throw CommandFailure(
                .refused, "keyring.no-terminal", "no terminal to ask at", hint: "run the agent at a terminal")
        }
        // The questions for one prompt: the keyring says only whether a question is the first one.
        let attempt = Mutex(0)
        let started = try await context.bus { () async throws(BusFault) in
            try await KeyringAgent.start(at: address) { program, isRetry, isWanted in
                let attempt = attempt.withLock { count in
                    count = isRetry ? count + 1 : 1
                    return count
                }
                let name = LoggableText(reviewed: "the path of a program, as any listing shows it", unredacted: program)
                let question: LogMessage = program.isEmpty ? question : "\(question), for \(name)"
                return try? mapError(
                    { (error: StoreError) in
                        // Ctrl-C ends the agent, as it does between two questions.
                        if error.code == .cancelled { kill(getpid(), SIGINT) }
                        return error
                    },
                    of: prompt.askForPassphrase(
                        question, attempt: attempt, stopping: { isWanted() ? nil : .dismissed }))
            }
        }
        guard let agent = started else {
            throw CommandFailure(
                .unavailable, "keyring.not-served", "Latchkey serves no keyring on this bus",
                hint: "see which program does: latchkey keyring status")
        }
        context.output.note(
            "waiting: this terminal asks for the passphrase when a program needs the keyring; press Ctrl-C to stop")
        let end = await withTaskCancellationHandler {
            await agent.waitForEnd()
        } onCancel: {
            agent.stop()
        }
        guard end != .stopped else { return .success }
        throw CommandFailure(
            .unavailable, "keyring.bus-lost", "the keyring has ended",
            hint: "see which program serves a keyring: latchkey keyring status")
    }
}
