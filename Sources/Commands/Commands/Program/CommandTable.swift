/// The commands of `latchkey`, in the order of its help.
package enum CommandTable {
    package static let all = [
        SignInCommand.command, SignOutCommand.command, AccountsCommand.command, UseCommand.command,
        TokenCommand.command, RequestCommand.command, ProviderAddCommand.command, ProviderListCommand.command,
        ProviderRemoveCommand.command, SchemeCommand.add, SchemeCommand.list, SchemeCommand.remove,
        SchemeCommand.receive, ImportCommand.command,
        SetupCommand.command, GitHelper.command, DockerHelper.command, CargoHelper.command, KeyringHelper.command,
        KubectlHelper.command, AWSHelper.command, GoHelper.command, TerraformHelper.command, AskpassHelper.command,
        SystemdHelper.command,
        ServeCommand.command, KeyringRunCommand.command, EnableCommand.enable, EnableCommand.disable,
        AgentCommand.command, StatusCommand.command,
        SetCommand.command, GetCommand.command, DeleteCommand.command, ListCommand.command,
        GenerateCommand.command, RenameCommand.command, EditCommand.command,
        TransferCommand.copy, TransferCommand.move, DoctorCommand.command,
        VaultInitCommand.command, VaultUnlockCommand.command, VaultLockCommand.command,
        VaultStatusCommand.command, VaultPasswdCommand.command,
        VaultSlotsCommand.command, VaultAddSlotCommand.command, VaultRemoveSlotCommand.command,
        VaultNewKeyCommand.command, VaultExportCommand.command, VaultImportCommand.command,
        VaultRekeyCommand.command, VaultSchemaCommand.command, VaultVerifyCommand.command,
        VaultAcceptRollbackCommand.command,
        ListCommand.search, RunCommand.command, ConfigCommand.get, ConfigCommand.set, ConfigCommand.list,
        CompletionsCommand.command,
    ]
}
