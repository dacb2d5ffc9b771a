internal import LatchkeyVault

/// `latchkey vault lock`.
enum VaultLockCommand {
    static let command = Command(
        "vault", "lock", summary: "lock the vault again after latchkey vault unlock",
        details: """
            Processes that have opened the vault aren't affected. If a key file or another key still opens the vault, lock says so.
            """,
        examples: ["latchkey vault lock"]
    ) { _, context in
        let vault = try await context.settings.lockedVault()
        let wasUnlocked = try vault.endUnlocking()
        let done: LogMessage = wasUnlocked ? "locked the vault" : "nothing to lock"
        let still = context.output.isJSON ? nil : await stillOpening(vault, context)
        try context.output.tell(
            still.map { "\(done); the vault's \($0) still opens it without a question" } ?? done,
            json: .object([("was_unlocked", .bool(wasUnlocked))]))
        return .success
    }

    /// The keys that still open the vault.
    private static func stillOpening(_ vault: LockedVault, _ context: CommandContext) async -> LogMessage? {
        let settings = context.settings.askingNobody
        switch settings.vaultKey {
        case .keyFile, .search: break
        case .passphraseFile, .passphraseDescriptor: return nil
        }
        guard let vault = try? await settings.unlock(vault) else { return nil }
        switch try? await vault.openedSlot(deadline: context.deadline)?.kind {
        case .keyFile?: return "key file"
        case .systemCredential?: return "system credential"
        case .secretService?: return "key in the keyring"
        default: return nil
        }
    }
}
