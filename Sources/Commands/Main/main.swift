internal import LatchkeyCommands
internal import LatchkeyStoreSelection

CommandProgram(commands: CommandTable.all, catalogue: .standard).main()
