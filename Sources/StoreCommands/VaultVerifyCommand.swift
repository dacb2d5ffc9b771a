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
    ) { arguments, context in
        let vault = try await open(context)
        // A large vault takes its time; only a limit that somebody asked for ends it.
        let found = try await vault.verify(
            deadline: arguments.has(GlobalOptions.timeout) ? context.deadline : .after(.seconds(86_400)))
        for problem in found.problems { try context.output.write("\(problem)") }
        guard found.isSound else {
            throw StoreError(
                .corrupted, "\(vault.identity) is damaged, or was changed without its key",
                hint: "restore a backup; latchkey get may still read single credentials")
        }
        try context.output.write("\(vault.identity): \(found.itemCount) credentials, all sound")
        return .success
    }

    private static func open(_ context: CommandContext) async throws -> VaultStore {
        do throws(StoreError) {
            return try await context.openVault()
        } catch {
            guard error.code == .corrupted else { throw error }
            throw StoreError(
                .corrupted, error.cause, hint: "it can't even be opened: restore a backup", platform: error.platform)
        }
    }
}
