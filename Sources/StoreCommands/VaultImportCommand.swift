internal import Credentials
internal import RedactedLog
internal import Secrets
internal import StoreSelection
internal import Terminal
internal import Vault

/// `latchkey vault import FILE`.
enum VaultImportCommand {
    private static let keyFile = CommandOption.value("--key-file", "PATH", help: "open FILE with this file")
    private static let passphrase = CommandOption.value(
        "--import-passphrase-fd", "N", form: .descriptor, help: "read FILE's passphrase from this descriptor")
    private static let conflict = CommandOption.value(
        "--on-conflict", "CHOICE", form: .choice(["refuse", "keep", "replace"]),
        help: "what to do with a credential that differs from the one there: refuse, keep or replace (refuse)")

    static let command = Command(
        CommandDefinition(
            "vault", "import", summary: "take over everything from another vault, such as an export",
            operands: [.required("FILE", help: "the other vault; it is not changed")],
            options: [keyFile, passphrase, conflict],
            details: """
                Without an option FILE's passphrase is asked for. All of it is taken over or nothing: each credential is
                read back before the change is made. Other programs wait to read while a large import is written.
                """)
    ) { arguments, context in
        try arguments.refuseTwo(of: [keyFile, passphrase], "keys for one file")
        let path = AbsolutePath.of(arguments.operand("FILE"))
        let descriptor = try arguments.passedDescriptor(passphrase)
        try VaultStore.probe(at: path)
        let vault = try await context.openVault()
        let other = try await VaultStore.open(
            at: path, unlockedBy: source(arguments, descriptor, context), deadline: context.deadline)
        let result = try await vault.takeOver(
            other, onConflict: choice(arguments), deadline: context.longDeadline(arguments))
        try context.output.write(
            "\(vault.identity): \(result.addedCount) added, \(result.replacedCount) replaced, \(result.keptCount) kept")
        return .success
    }

    private static func source(
        _ arguments: ParsedArguments, _ descriptor: PassedDescriptor?, _ context: CommandContext
    ) throws(StoreError) -> VaultKeySource {
        if let file = arguments.value(keyFile) { return .keyFile(file) }
        if let descriptor { return try StoreSettings.VaultKey.passphraseDescriptor(descriptor.number).source() }
        return .passphrase(try context.prompt.askForPassphrase("Passphrase of the file to import"))
    }

    private static func choice(_ arguments: ParsedArguments) -> VaultImportChoice {
        switch arguments.value(conflict) {
        case "keep": .keep
        case "replace": .replace
        default: .refuse
        }
    }
}
