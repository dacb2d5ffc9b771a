internal import Glibc
internal import LatchkeyVault

/// `latchkey vault export FILE`.
enum VaultExportCommand {
    private static let leaveOutDamaged = CommandOption.flag(
        "--leave-out-damaged", help: "skip secrets that can't be read, and count them")

    static let command = Command(
        "vault", "export", summary: "export a vault to a new vault with a separate key",
        operands: [.required("FILE", help: "new vault, in a directory that other users can't change")],
        options: NewVaultKey.options + [leaveOutDamaged],
        details: """
            The export is a separate vault, with everything at one moment. Unless an option sets its key, export asks for a passphrase
            twice. The file appears complete or not at all, after export has verified it. Other programs can use the vault during the
            export; a large vault needs space for a second copy until then.

            FILE may also be the URI of a database with empty tables. Other users may read FILE's directory, but must not be able to change
            it. To use the export as a vault, move it to a directory of its own with mode 700.

            --leave-out-damaged exports a damaged vault without the check against the last saved state, so someone may have replaced a
            secret with an older one. Run `latchkey vault verify` first.
            """,
        examples: ["latchkey vault export ~/backup.vault"]
    ) { arguments, context in
        try arguments.refuseTwo(of: NewVaultKey.options, "keys for one slot")
        let path = try VaultLocation.checked(arguments.operand("FILE"))
        let descriptor = try arguments.passedDescriptor(NewVaultKey.passphrase)
        // Before any question.
        try VaultInitCommand.refuseExisting(path, hint: "choose another path, or move the existing file away")
        try VaultStore.checkPlace(forNewVaultAt: path, for: .backup)
        try NewVaultKey.check(arguments, context.environment)
        let leavesOut = arguments.has(leaveOutDamaged)
        let vault = try await context.openVault(itemCheck: leavesOut ? .never : .whenSmall)
        let key = try await NewVaultKey(
            arguments, reading: descriptor, asking: "New passphrase of the export", for: .ofNewVault(),
            ofVaultAt: path, vault, context)
        let progress = context.output.progress("exporting")
        let done: VaultExport
        do throws(StoreError) {
            defer { progress.end() }
            done = try await vault.export(
                to: path, unlockedBy: key.source, leavingOutDamaged: leavesOut,
                deadline: context.longDeadline(arguments)
            ) { progress.show(fraction: $0) }
        } catch {
            // A conflict is about another file.
            let isAbsent = unsafe !VaultLocation.isDatabase(path) && access(path, F_OK) != 0 && errno == ENOENT
            await key.discard(
                ifUnneeded: error.code == .conflict || error.isRefusal && isAbsent, ofVaultAt: path, context.output)
            throw error
        }
        key.announce(on: context.output)
        let shown = LoggableText(reviewed: "the path of an export", unredacted: path)
        try context.output.write(
            "\(shown): \(LogMessage.credentials(done.itemCount)), all verified",
            json: .object([
                ("file", .text(shown)), ("credentials", .number(Int64(done.itemCount))),
                ("missing", .number(Int64(done.missingCount))),
            ]))
        if done.missingCount > 0 {
            context.output.warn(
                LogMessage.counted(
                    done.missingCount, "credential couldn't be read and is missing from the export",
                    "credentials couldn't be read and are missing from the export"),
                hint: "look for the missing credentials in a backup")
        }
        return .success
    }
}

extension CommandContext {
    /// The time limit for work on all items: a day, unless --timeout is set, because a large vault takes long.
    func longDeadline(_ arguments: ParsedArguments) -> Deadline {
        arguments.has(GlobalOptions.timeout) ? deadline : .after(.seconds(86_400))
    }
}
