internal import SignInCommands
internal import StoreCommands
internal import StoreSelection

await CommandProgram(commands: SignInCommandTable.all, catalogue: .standard, cancelsWhenInterrupted: true).main()
