internal import LatchkeyDBus
internal import LatchkeyKeyringService
internal import LatchkeyLog
internal import LatchkeyCommandLine

/// `latchkey keyring agent`: this terminal asks its person when a program wants the served keyring unlocked.
enum AgentCommand {
    static let command = Command(
        "keyring", "agent",
        summary: "ask for the passphrase at this terminal when a program needs the keyring",
        details: """
            agent runs until a signal or the end of the keyring stops it. The passphrase goes to the keyring directly, not over the bus.
            Without an agent or a terminal, the keyring stays locked until `latchkey vault unlock`, and programs get an error at once.
            """,
        examples: ["latchkey keyring agent"], runs: { _ in .pool }
    ) { _, context in
        guard let address = context.sessionBus else { throw CommandFailure.noBus }
        guard context.prompt.isPossible else {
            throw CommandFailure(
                .refused, "keyring.no-terminal", "no terminal to ask at", hint: "start it at one")
        }
        let prompt = context.prompt
        let agent = try await context.bus { () async throws(BusFault) in
            try await KeyringAgent.start(at: address) { isRetry in
                try? prompt.askForPassphrase("Passphrase of the vault", attempt: isRetry ? 2 : 1)
            }
        }
        context.output.note("this terminal asks when a program wants the keyring unlocked; Ctrl-C ends that")
        let end = await withTaskCancellationHandler {
            await agent.waitForEnd()
        } onCancel: {
            agent.stop()
        }
        guard end != .stopped else { return .success }
        throw CommandFailure(
            .unavailable, "keyring.bus-lost", "the keyring has ended",
            hint: "latchkey keyring status shows who serves one")
    }
}
