import LatchkeySignInCommands
import LatchkeyStoreCommands
import LatchkeyStoreSelection

// The one line: everything else about the service is in its file.
await CommandProgram(commands: SignInCommandTable.adding(.forge), catalogue: .standard).main()
