internal import Credentials
internal import RedactedLog
internal import Terminal
internal import Vault

/// `latchkey vault rotate`.
enum VaultRotateCommand {
    static let command = Command(
        CommandDefinition(
            "vault", "rotate", summary: "seal everything in a vault anew, under a new key",
            details: """
                Slots, passphrases and key files stay as they are. Others may use the vault meanwhile. When it is cut
                off, nothing is lost: the next run goes on where it ended.
                """)
    ) { arguments, context in
        let vault = try await context.openVault()
        // A large vault takes its time; only a limit that somebody asked for ends it.
        let deadline = arguments.has(GlobalOptions.timeout) ? context.deadline : .after(.seconds(86_400))
        let rotation: VaultRotation
        do throws(StoreError) {
            defer { context.output.endProgress() }
            rotation = try await vault.rotateDataKey(deadline: deadline) { fraction in
                context.output.showProgress("sealing anew", percent: Int(fraction * 100))
            }
        } catch {
            guard error.code != .corrupted, error.hint == nil else { throw error }
            throw StoreError(
                error.code, error.cause, hint: "run it again: it goes on where it ended", platform: error.platform)
        }
        if rotation.wasResumed { context.output.note("finished a rotation that had been cut off") }
        try context.output.write("\(vault.identity): \(rotation.resealedCount) credentials sealed under a new key")
        return .success
    }
}
