package import LatchkeySignIn
package import LatchkeyStoreCommands

/// The commands that need the network, and beside them those that don't: `latchkey-auth` runs all of them.
package enum SignInCommandTable {
    package static let all =
        StoreCommandTable.all + [
            SignInCommand.command, SignOutCommand.command, AccountsCommand.command, UseCommand.command,
            TokenCommand.command, RequestCommand.command, RunWithTokenCommand.command, ProviderAddCommand.command,
            ProviderListCommand.command,
            ProviderRemoveCommand.command, SchemeCommand.add, SchemeCommand.list, SchemeCommand.remove,
            SchemeCommand.receive, ImportCommand.command,
        ]

    /// The same for a program with a service of its own, which `--service` names, `provider list --available` lists and
    /// shells complete.
    package static func adding(_ service: BuiltInProvider) -> [Command] {
        BuiltInProvider.add(service)
        SignInDefinitions.add(service: service.word)
        return all
    }
}
