internal import LatchkeyLog
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// `latchkey vault rekey`.
enum VaultRekeyCommand {
    static let command = Command(
        "vault", "rekey", summary: "give a vault a new key, so that what opened it before opens it no longer",
        details: """
            After latchkey vault remove-slot, or latchkey vault add-slot --replace, this locks out whoever kept a copy of
            the vault and what opened it. All slots that are there open it as before, and nobody's passphrase or key is needed for
            that. It takes away what latchkey vault unlock left. What was in a copy from before can still be read there:
            change those secrets where they are used. It is one step: when it is cut off, the vault is as it was. Other programs
            wait meanwhile.

            Exit status 65: something is damaged or isn't what was saved last; nothing was changed.
            """,
        examples: ["latchkey vault rekey"]
    ) { arguments, context in
        let vault = try await context.openVault()
        let count: Int
        do {
            defer { context.output.endProgress() }
            count = try await vault.rekey(deadline: context.longDeadline(arguments)) { fraction in
                context.output.showProgress("sealing anew", percent: Int(fraction * 100))
            }
        }
        context.logger.info("rekeyed \(vault.identity)")
        try context.output.write(
            "\(vault.identity): \(LogMessage.credentials(count)) sealed under a new key",
            json: .object([("credentials", .number(Int64(count)))]))
        return .success
    }
}
