internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal
internal import LatchkeyVault

/// `latchkey vault lock`.
enum VaultLockCommand {
    static let command = Command(
        CommandDefinition(
            "vault", "lock", summary: "take away what latchkey vault unlock left",
            details: "Processes that have the vault open go on.")
    ) { _, context in
        let wasUnlocked = try await VaultStore.lock(at: context.settings.vaultPath, deadline: context.deadline)
        try context.output.tell(
            wasUnlocked ? "locked the vault" : "the vault was not unlocked",
            json: .object([("was_unlocked", .bool(wasUnlocked))]))
        return .success
    }
}
