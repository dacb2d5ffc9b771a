package import LatchkeyStoreCommands

/// The commands that need the network, and beside them those that don't: `latchkey-auth` runs all of them.
package enum SignInCommandTable {
    package static let all =
        StoreCommandTable.all + [
            SignInCommand.command, SignOutCommand.command, AccountsCommand.command, UseCommand.command,
            TokenCommand.command, RequestCommand.command, RunCommand.command, ProviderAddCommand.command,
            ProviderListCommand.command,
            ProviderRemoveCommand.command, SchemeCommand.add, SchemeCommand.list, SchemeCommand.remove,
            SchemeCommand.receive, DemoCommand.command, ImportCommand.command,
        ]
}
