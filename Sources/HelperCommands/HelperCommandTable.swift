package import LatchkeyStoreCommands

/// The commands that other tools start to ask for credentials.
package enum HelperCommandTable {
    package static let all: [Command] = [
        GitHelper.command, DockerHelper.command, CargoHelper.command, KeyringHelper.command,
    ]
}
