package import LatchkeyStoreCommands

/// The commands that other tools start to ask for credentials.
package enum HelperCommandTable {
    package static let all: [Command] = [
        SetupCommand.command, GitHelper.command, DockerHelper.command, CargoHelper.command, KeyringHelper.command,
        KubectlHelper.command,
        AWSHelper.command, GoHelper.command, TerraformHelper.command, AskpassHelper.command, SystemdHelper.command,
    ]
}
