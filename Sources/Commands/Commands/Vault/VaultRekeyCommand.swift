internal import LatchkeyVault

/// `latchkey vault rekey`.
enum VaultRekeyCommand {
    static let command = Command(
        "vault", "rekey", summary: "encrypt a vault with a new key, to shut out removed keys",
        details: """
            Run rekey after `latchkey vault remove-slot` or `latchkey vault passwd`, or after add-slot replaced a slot. Old copies of the vault still
            open with the removed key, but later copies don't. All current slots keep working, and rekey needs none of their keys.

            Secrets in an old copy can still be read there: change those secrets. rekey is one step: if interrupted, the vault is
            unchanged. Other programs wait until rekey ends. The vault is locked afterwards. Exits with 65 if the vault is damaged;
            then nothing was changed.
            """,
        examples: ["latchkey vault rekey"]
    ) { arguments, context in
        let vault = try await context.openVault()
        let count: Int
        do {
            let progress = context.output.progress("encrypting")
            defer { progress.end() }
            count = try await vault.rekey(deadline: context.longDeadline(arguments)) { fraction in
                progress.show(fraction: fraction)
            }
        }
        context.logger.info("rekeyed \(vault.identity)")
        try context.output.write(
            "\(vault.identity): encrypted \(LogMessage.credentials(count)) with a new key",
            json: .object([("credentials", .number(Int64(count)))]))
        return .success
    }
}
