internal import LatchkeyJSON
internal import LatchkeyLog
package import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// The commands that other tools start to ask for credentials.
package enum HelperCommandTable {
    package static let all: [Command] =
        [SetupCommand.command]
        + [
            GitHelper.command, DockerHelper.command, CargoHelper.command, KeyringHelper.command, KubectlHelper.command,
            AWSHelper.command, GoHelper.command, TerraformHelper.command, AskpassHelper.command, SystemdHelper.command,
        ].map(\.sayingWhatIsNoText)
}

extension Command {
    /// The same, where an answer in JSON can't be made of a secret: any bytes can be stored.
    fileprivate var sayingWhatIsNoText: Command {
        Command(definition, reportsError: reportsError) { arguments, context in
            do {
                return try await run(arguments, context)
            } catch is JSONError {
                throw CommandFailure(
                    .badData, "helper.not-text", "what is stored isn't text, or is too long for this tool",
                    hint: "save another secret in its place")
            }
        }
    }
}
