internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// `latchkey vault export FILE`.
enum VaultExportCommand {
    private static let keyFile = CommandOption.value(
        "--key-file", "PATH", help: "open the export with this file; it is made when it is missing")
    private static let newPassphrase = CommandOption.value(
        "--new-passphrase-fd", "N", form: .descriptor, help: "read the export's passphrase from this descriptor")

    private static let leaveOutDamaged = CommandOption.flag(
        "--leave-out-damaged", help: "export what can still be read of a damaged vault, and say how many are missing")

    static let command = Command(
        "vault", "export", summary: "write everything in a vault into a new one with a key of its own",
        operands: [.required("FILE", help: "the new vault, in a folder that nobody else can change")],
        options: [keyFile, newPassphrase, NewVaultKey.credential, NewVaultKey.secretService, leaveOutDamaged],
        details: """
            Without an option a passphrase for it is asked for, twice. The file appears whole or not at all, after
            everything was read back from it. It is one moment's state; others use the vault meanwhile. For that a
            large vault is first copied as it is, sealed, and takes its size twice on the disk for as long.
            FILE may be the URI of a database whose tables are empty. Else its folder has to be there. It may be where others see
            it, such as /tmp or a home that they can read: it shows nothing without its key. Where they could change it, it is
            refused. To use it as a vault, move it into a folder of its own with mode 700.

            With --leave-out-damaged the vault isn't compared with what was saved last: an older password that someone
            without its key put back is exported as it is. `latchkey vault verify` tells before.
            """,
        examples: ["latchkey vault export ~/backup.vault"]
    ) { arguments, context in
        try arguments.refuseTwo(
            of: [keyFile, newPassphrase, NewVaultKey.credential, NewVaultKey.secretService], "keys for one slot")
        let path = try VaultLocation.checked(arguments.operand("FILE"))
        let descriptor = try arguments.passedDescriptor(newPassphrase)
        // Before anybody is asked for anything.
        try VaultInitCommand.refuseExisting(path, hint: "name another place, or move it away yourself")
        try VaultStore.checkPlace(forNewVaultAt: path, for: .backup)
        try NewVaultKey.check(keyFile: arguments.value(keyFile), arguments, context.environment)
        let leavesOut = arguments.has(leaveOutDamaged)
        let vault = try await context.openVault(itemCheck: leavesOut ? .never : .whenSmall)
        let key: NewVaultKey
        if let file = arguments.value(keyFile) {
            key = try NewVaultKey(keyFile: AbsolutePath.of(file))
        } else if let name = arguments.value(NewVaultKey.credential) {
            key = try NewVaultKey(credential: name, context.environment)
        } else if arguments.has(NewVaultKey.secretService) {
            key = try await NewVaultKey(keptFor: try .ofNewVault(), ofVaultAt: path, context.settings)
        } else if let descriptor {
            key = try NewVaultKey(reading: .passphraseDescriptor(descriptor.number))
        } else {
            key = try NewVaultKey(asking: context.prompt, "New passphrase of the export")
        }
        let done: VaultExport
        do throws(StoreError) {
            done = try await vault.export(
                to: path, unlockedBy: key.source, leavingOutDamaged: leavesOut,
                deadline: context.longDeadline(arguments))
        } catch {
            await key.discard()
            throw error
        }
        key.announce(on: context.output)
        let shown = LoggableText(reviewed: "the path of an export", unredacted: path)
        try context.output.write(
            "\(shown): \(LogMessage.credentials(done.itemCount)), all read back",
            json: .object([
                ("file", .text(shown)), ("credentials", .number(Int64(done.itemCount))),
                ("missing", .number(Int64(done.missingCount))),
            ]))
        if done.missingCount > 0 {
            context.output.warn(
                LogMessage.counted(
                    done.missingCount, "credential could not be read, and is not in it",
                    "credentials could not be read, and are not in it"),
                hint: "a backup may have them")
        }
        return .success
    }
}

extension CommandContext {
    /// A large vault takes its time; only a limit that somebody asked for ends what goes through all of it.
    func longDeadline(_ arguments: ParsedArguments) -> Deadline {
        arguments.has(GlobalOptions.timeout) ? deadline : .after(.seconds(86_400))
    }
}
