internal import Credentials
internal import RedactedLog
internal import StoreSelection
internal import Terminal
internal import Vault

/// `latchkey vault verify`.
enum VaultVerifyCommand {
    static let command = Command(
        CommandDefinition(
            "vault", "verify", summary: "check every credential of a vault, and that none was taken away",
            details: "Exit status 65: something is damaged or was changed by someone without the key.")
    ) { _, context in
        let source = try context.settings.vaultKey.source()
        let vault = try await VaultStore.open(
            at: context.settings.vaultPath, unlockedBy: source, deadline: context.deadline)
        let report = try await vault.verify(deadline: context.deadline)
        try context.output.write("\(vault.identity): \(report)")
        return .success
    }
}
