internal import LatchkeyDBus
internal import LatchkeyKeyringService
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey keyring agent`: this terminal asks its person when a program wants the served keyring unlocked.
enum AgentCommand {
    static let command = Command(KeyringDefinitions.agent) { _, context in
        guard let address = context.sessionBus else { throw CommandFailure.noBus }
        guard context.prompt.isPossible else {
            throw CommandFailure(
                .refused, "keyring.no-terminal", "there is no terminal to ask at", hint: "start it at one")
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
