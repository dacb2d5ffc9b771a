internal import LatchkeyVault

/// `latchkey vault passwd`.
enum VaultPasswdCommand {
    private static let newPassphrase = CommandOption.value(
        "--new-passphrase-fd", "N", form: .descriptor, help: "file descriptor to read the new passphrase from")

    static let command = Command(
        "vault", "passwd", summary: "change a vault's passphrase", options: [newPassphrase],
        details: """
            passwd asks for the old passphrase, even if the vault is unlocked. It asks for the new one twice. Other slots don't change.
            Old copies of the vault still open with the old passphrase, and so do later ones: run `latchkey vault rekey` to stop that.
            Exits with 1 if the vault has no passphrase.
            """,
        examples: ["latchkey vault passwd"]
    ) { arguments, context in
        let descriptor = try arguments.passedDescriptor(newPassphrase)
        let locked = try await context.settings.lockedVault()
        guard locked.slots.contains(where: { $0.kind == .passphrase }) else {
            throw CommandFailure(
                .notFound, "slot.not-found", "the vault doesn't have a passphrase",
                hint: "add a passphrase with `latchkey vault add-slot passphrase`")
        }
        let vault = try await unlock(locked, context)
        guard let old = try await vault.openedSlot(deadline: context.deadline) else {
            throw StoreError(.busy, "another process changed the vault's key slots", hint: "try again")
        }
        let key =
            if let descriptor {
                try NewVaultKey(reading: .passphraseDescriptor(descriptor.number), deadline: context.deadline)
            } else {
                try NewVaultKey(asking: context.prompt, "New passphrase of the vault")
            }
        try await vault.addSlot(key.source, name: old.name, replacing: old.name, deadline: context.deadline)
        context.logger.info("changed the passphrase of the key slot \(old.name) of \(vault.identity)")
        context.output.note("changed the vault's passphrase")
        context.noteOldCopies()
        return .success
    }

    /// Opens the vault with the old passphrase, whatever else would open it.
    private static func unlock(_ vault: LockedVault, _ context: CommandContext) async throws(StoreError) -> VaultStore {
        switch context.settings.vaultKey {
        case .passphraseFile, .passphraseDescriptor: return try await context.settings.unlock(vault)
        case .search, .keyFile: break
        }
        let prompt = context.prompt
        let search = VaultKeySearch(credentialsDirectory: nil) { (attempt) throws(StoreError) in
            try prompt.askForPassphrase("Old passphrase of the vault", attempt: attempt)
        }
        return try await search.unlockByAsking(vault, context.settings)
    }
}
