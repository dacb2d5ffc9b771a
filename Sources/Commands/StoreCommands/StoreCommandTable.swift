/// The commands that work on stores alone, and need no network.
package enum StoreCommandTable {
    package static let all = [
        SetCommand.command, GetCommand.command, DeleteCommand.command, ListCommand.command,
        GenerateCommand.command, RenameCommand.command, EditCommand.command,
        TransferCommand.copy, TransferCommand.move, DoctorCommand.command,
        VaultInitCommand.command, VaultUnlockCommand.command, VaultLockCommand.command,
        VaultStatusCommand.command, VaultPasswdCommand.command,
        VaultSlotsCommand.command, VaultAddSlotCommand.command, VaultRemoveSlotCommand.command,
        VaultNewKeyCommand.command, VaultExportCommand.command, VaultImportCommand.command,
        VaultRekeyCommand.command, VaultSchemaCommand.command, VaultVerifyCommand.command,
        VaultAcceptRollbackCommand.command,
        ListCommand.search, RunCommand.command, CompletionsCommand.command,
    ]
}
