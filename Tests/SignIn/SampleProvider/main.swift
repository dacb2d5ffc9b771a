import LatchkeyCommands
import LatchkeySignIn
import LatchkeyStoreSelection

// The one line: everything else about the service is in its file.
BuiltInProvider.add(.forge)
CommandProgram(commands: CommandTable.all, catalogue: .standard).main()
