package import LatchkeyStoreCommands

/// The commands of `latchkey-keyring`.
package enum KeyringCommandTable {
    package static let all = [
        ServeCommand.command, SessionCommand.command, EnableCommand.enable, EnableCommand.disable,
        AgentCommand.command, StatusCommand.command,
    ]
}
