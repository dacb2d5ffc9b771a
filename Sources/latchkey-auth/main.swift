internal import SignInCommands
internal import StoreCommands
internal import StoreSelection

WorkerProcess.endWithStarter()
await CommandProgram(commands: SignInCommandTable.all, catalogue: .standard, cancelsWhenInterrupted: true).main()
