internal import LatchkeyVault

/// `latchkey vault add-slot NAME`.
enum VaultAddSlotCommand {
    private static let replace = CommandOption.value(
        "--replace", "OLD", help: "slot to remove in the same step")

    static let command = Command(
        "vault", "add-slot", summary: "add another way to open a vault",
        operands: [.required("NAME", help: "name of the new slot; only visible with a key")],
        options: NewVaultKey.options + [replace],
        details: """
            Without an option, add-slot asks for a new passphrase twice. Trying a passphrase takes about 0.75 s and up to 256 MiB of
            memory on this machine. To change the passphrase, run `latchkey vault passwd`. A vault has at most 128 slots.

            Latchkey remembers the key file, so later commands need no option. Old copies of the vault still open with a replaced key,
            and so do later ones: run `latchkey vault rekey` to stop that.
            """,
        examples: [
            "latchkey vault add-slot laptop --key-file laptop.key",
            "latchkey vault add-slot spare --replace passphrase",
        ]
    ) { arguments, context in
        let name = try KeySlotName(argument: arguments.operand("NAME"))
        let old = try arguments.value(replace).map { (text) throws(CommandFailure) in
            try KeySlotName(argument: text)
        }
        try arguments.refuseTwo(of: NewVaultKey.options, "keys for one slot")
        let descriptor = try arguments.passedDescriptor(NewVaultKey.passphrase)
        // The check comes before any question, and before a key file is created.
        try NewVaultKey.check(arguments, context.environment)
        let vault = try await context.openVault()
        let slots = try await check(name, replacing: old, in: vault, context)
        let replaced = slots.first { $0.name == old }
        let key = try await NewVaultKey(
            arguments, reading: descriptor, asking: "New passphrase for the slot \(name)",
            for: vault.newSlotReference(), ofVaultAt: context.settings.vaultPath, vault, context)
        do throws(StoreError) {
            try await vault.addSlot(key.source, name: name, replacing: old, deadline: context.deadline)
        } catch {
            let now = try? await vault.slots(deadline: .after(.seconds(5)))
            await key.discard(
                ifUnneeded: error.isRefusal && now == slots, ofVaultAt: context.settings.vaultPath, context.output)
            throw error
        }
        key.announce(on: context.output)
        let other: LogMessage = old == name ? "" : " with the slot \"\(name)\""
        context.output.note(replaced.map { "replaced the slot \"\($0.name)\"\(other)" } ?? "added the slot \"\(name)\"")
        if let path = arguments.value(NewVaultKey.keyFile) {
            context.remember(AbsolutePath.of(path), for: vault)
        }
        context.logger.info("added the key slot \(name) to \(vault.identity)")
        await context.forgetKey(of: replaced, in: vault)
        return .success
    }

    private static func check(
        _ name: KeySlotName, replacing old: KeySlotName?, in vault: VaultStore, _ context: CommandContext
    ) async throws -> [KeySlotDescription] {
        let slots = try await vault.slots(deadline: context.deadline)
        let names = slots.map(\.name)
        if let old, !names.contains(old) { throw CommandFailure(absentSlot: old, in: vault) }
        guard name == old || !names.contains(name) else {
            throw StoreError(
                .conflict, "the vault already has a key slot named \"\(name)\"",
                hint: "choose another name, or replace the old slot with --replace")
        }
        return slots
    }
}

extension CommandFailure {
    init(absentSlot name: KeySlotName, in vault: VaultStore) {
        self.init(
            .notFound, "slot.not-found", "\(vault.identity) doesn't contain the key slot \"\(name)\"",
            hint: "run `latchkey vault slots` to see the slots")
    }
}
