internal import LatchkeyDBus
internal import LatchkeyKeyringService
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeyCommandLine

/// `latchkey keyring agent`: this terminal asks its person when a program wants the served keyring unlocked.
enum AgentCommand {
    static let command = Command(
        "keyring", "agent",
        summary: "ask for the passphrase at this terminal when a program needs the keyring",
        details: """
            agent runs until a signal or the end of the keyring stops it. The passphrase goes to the keyring directly, not over the bus.
            The keyring stays locked without an agent or a terminal; programs then get an error until you run `latchkey vault unlock`.
            """,
        examples: ["latchkey keyring agent"], runs: { _ in .pool }
    ) { _, context in
        guard let address = context.sessionBus else { throw CommandFailure.noBus }
        guard context.prompt.isPossible else {
            throw CommandFailure(
                .refused, "keyring.no-terminal", "no terminal to ask at", hint: "run the agent at a terminal")
        }
        let prompt = context.prompt
        let agent = try await context.bus { () async throws(BusFault) in
            try await KeyringAgent.start(at: address) { isRetry in
                try? prompt.askForPassphrase("Passphrase of the vault", attempt: isRetry ? 2 : 1)
            }
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
