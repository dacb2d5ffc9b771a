internal import StoreCommands
internal import StoreSelection

await CommandProgram(commands: StoreCommandTable.all, catalogue: .standard).main()
