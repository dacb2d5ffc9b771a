internal import LatchkeyHelperCommands
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection

CommandProgram(commands: StoreCommandTable.all + HelperCommandTable.all, catalogue: .standard).mainOnThisThread()
