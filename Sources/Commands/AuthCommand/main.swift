internal import LatchkeySignInCommands
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection

WorkerProcess.endWithStarter()
await CommandProgram(commands: SignInCommandTable.all, catalogue: .standard, cancelsWhenInterrupted: true).main()
