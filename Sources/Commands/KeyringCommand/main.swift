internal import LatchkeyKeyringProgram
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection

KeyringSession.startIfAsked()
PrivateBus.startIfAsked()
ServiceMemory.useOneHeap()
await CommandProgram(commands: KeyringCommandTable.all, catalogue: .standard, cancelsWhenInterrupted: true).main()
