internal import LatchkeyVault

/// `latchkey vault remove-slot NAME`.
enum VaultRemoveSlotCommand {
    static let command = Command(
        "vault", "remove-slot", summary: "remove a way to open a vault",
        operands: [.required("NAME", help: "slot to remove")], options: [.yes],
        details: """
            At a terminal, remove-slot asks before it removes the slot. The last slot can't be removed. If the slot has a key in the
            desktop's keyring, remove-slot deletes that key too, so copies of the vault without another slot can no longer be opened.
            Old copies of the vault still open with any other removed key, and so do later ones: run `latchkey vault rekey` to
            stop that. Exits with 1 if the vault has no such slot.
            """,
        examples: ["latchkey vault remove-slot laptop"]
    ) { arguments, context in
        let name = try KeySlotName(argument: arguments.operand("NAME"))
        let vault = try await context.openVault()
        let slots = try await vault.slots(deadline: context.deadline)
        let slot = slots.first { $0.name == name }
        let rest = slots.filter { $0.name != name }.map { "\($0.name)" as LogMessage }
        if slot != nil, !rest.isEmpty, context.asks(arguments),
            try !context.confirm("Remove the slot \"\(name)\"? The slots that stay: \(LogMessage.joined(rest)).")
        {
            throw CommandFailure(
                .refused, "slot.kept", "the slot \"\(name)\" was not removed",
                hint: "answer y, or add --yes to remove it without a question")
        }
        guard try await vault.removeSlot(name, deadline: context.deadline) else {
            throw CommandFailure(absentSlot: name, in: vault)
        }
        context.logger.info("removed the key slot \(name) from \(vault.identity)")
        context.output.note("removed the slot \"\(name)\"")
        await context.forgetKey(of: slot, in: vault)
        return .success
    }
}

extension CommandContext {
    /// The limits of removing a slot whose key can still be had.
    func noteOldCopies() {
        output.note(
            """
            old copies of the vault still open with the old key, and so do later ones; run `latchkey vault rekey` to stop \
            that
            """)
    }

    /// Deletes the desktop keyring's key for a removed slot, or forgets its key file, and says what becomes of copies.
    /// A key that stays behind opens only them.
    func forgetKey(of slot: KeySlotDescription?, in vault: VaultStore) async {
        guard let slot else { return }
        guard slot.kind == .secretService else {
            if slot.kind == .keyFile { await forgetKeyFiles(of: vault) }
            return noteOldCopies()
        }
        if let error = await failure(StoreError.self, awaiting: try await VaultKeyring(settings).forget(slot.reference))
        {
            output.note("can't delete the removed slot's key from the keyring: \(error)")
            noteOldCopies()
        } else {
            output.note("deleted the slot's key from the keyring: copies of the vault don't open with it either")
        }
    }
}
