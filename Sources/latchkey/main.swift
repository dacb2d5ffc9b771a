internal import StoreCommands
internal import StoreSelection

CommandProgram(commands: StoreCommandTable.all, catalogue: .standard).mainOnThisThread()
