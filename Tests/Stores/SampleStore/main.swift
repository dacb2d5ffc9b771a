import LatchkeyStoreCommands
import LatchkeyStoreSelection

// The one line: everything else about the store is in this folder.
CommandProgram(commands: StoreCommandTable.all, catalogue: .standard.adding(.shelf)).mainOnThisThread()
