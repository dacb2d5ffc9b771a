import LatchkeyCommands
import LatchkeyStoreSelection

// The one line: everything else about the store is in this folder.
CommandProgram(commands: CommandTable.all, catalogue: .standard.adding(.shelf)).main()
