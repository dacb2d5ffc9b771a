internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection

CommandProgram(commands: StoreCommandTable.all, catalogue: .standard).mainOnThisThread()
