internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyStoreSelection
package import LatchkeyTerminal
internal import LatchkeyVault

/// `latchkey copy` and `latchkey move`, from one store to another.
package enum TransferCommand {
    private static let from = CommandOption.value("--from", "STORE", help: "the store where they are")
    private static let to = CommandOption.value("--to", "STORE", help: "the store where they shall be")
    package static let replace = CommandOption.flag(
        "--replace", help: "overwrite another secret that the target has under the same name")
    package static let dryRun = CommandOption.flag("--dry-run", help: "say what would be done, and do nothing")

    static let copy = Command(definition("copy", summary: "copy credentials from one store to another")) {
        try await run($0, $1, .copy)
    }

    static let move = Command(definition("move", summary: "move credentials from one store to another")) {
        try await run($0, $1, .move)
    }

    private static func definition(_ name: StaticString, summary: StaticString) -> CommandDefinition {
        CommandDefinition(
            name, topic: .stores, summary: summary,
            operands: [
                .optional("SERVICE", help: "only this service"), .optional("ACCOUNT", help: "only this account of it"),
            ],
            options: [from, to, replace, dryRun],
            details: """
                Without SERVICE, all credentials of every kind. Each one is read back and compared before it counts,
                and before a move deletes it; where it was cut short, the same command goes on. Another secret in the
                target is left alone without --replace, and the exit status is 73. Exit status 1: there is nothing to
                do it with. Which store is used stays as it is.
                """)
    }

    private static func run(
        _ arguments: ParsedArguments, _ context: CommandContext, _ mode: CredentialTransfer.Mode
    ) async throws -> ExitStatus {
        let ends = (try backend(from, arguments, context), try backend(to, arguments, context))
        guard ends.0.name.description != ends.1.name.description else {
            throw CommandFailure(
                .usage, "transfer.same-store", "--from and --to name the same store",
                hint: "latchkey vault export and import copy one vault to another")
        }
        var settings = context.settings
        settings.vaultItemCheck = .always
        let source = try await ends.0.open(settings)
        let target = try await ends.1.open(settings)
        let transfer = CredentialTransfer(
            from: source, to: target, mode: mode, replaces: arguments.has(replace))
        let keys = try await keys(of: source, arguments, context)
        guard !keys.isEmpty else {
            throw CommandFailure(
                .notFound, "credential.not-found", "there is no such credential in \(source.identity)",
                hint: "latchkey list --store \(ends.0.name) shows what there is")
        }
        let run = TransferRun(
            transfer: transfer, work: mode == .copy ? "copying" : "moving", isRehearsal: arguments.has(dryRun),
            showsJSON: arguments.has(GlobalOptions.json))
        let isMoved = mode == .move && !arguments.has(dryRun)
        await tellOfItems(in: source, arguments, context)
        do {
            let status = try await run.run(keys, context)
            if isMoved { await tellStoreInUse(ends.0, ends.1, context) }
            return status
        } catch let error as CommandFailure {
            // What could be moved was.
            if isMoved { await tellStoreInUse(ends.0, ends.1, context) }
            throw error
        }
    }

    /// A keyring gets credentials alone: what other programs keep in the vault stays there.
    private static func tellOfItems(
        in source: any CredentialStore, _ arguments: ParsedArguments, _ context: CommandContext
    ) async {
        guard let vault = source as? VaultStore, arguments.optionalOperand("SERVICE") == nil,
            let count = try? await vault.itemsBesidesCredentials(deadline: context.deadline).count, count > 0
        else { return }
        let items = LogMessage.counted(
            count, "item with other attributes is left alone", "items with other attributes are left alone")
        context.output.note("\(items): latchkey list --items")
    }

    /// Whoever empties the store in use would find nothing there with the next command.
    private static func tellStoreInUse(_ from: StoreBackend, _ to: StoreBackend, _ context: CommandContext) async {
        let choice = try? await context.selector.choose(
            named: context.namedStore, settings: context.settings.askingNobody, remembers: false)
        guard let choice, choice.backend.name.description == from.name.description else { return }
        let configuration = LoggableText(
            reviewed: "the path of the configuration", unredacted: context.configurationFolder + "/config")
        let change: LogMessage =
            choice.source == .environment
            ? "LATCHKEY_STORE=\(to.name) changes that" : "`store = \(to.name)` in \(configuration) changes that"
        context.output.note("\(from.name) is still the store that is used; \(change), or --store \(to.name)")
    }

    private static func backend(
        _ option: CommandOption, _ arguments: ParsedArguments, _ context: CommandContext
    ) throws -> StoreBackend {
        guard let name = arguments.value(option) else {
            throw CommandFailure(
                .usage, "usage.missing-option", "\(option.name) is missing",
                hint: "name both stores, such as --from secret-service --to vault")
        }
        try context.selector.catalogue.check(name, namedBy: option.name)
        // As for every store that is named: only those that keep what they are given.
        return try context.selector.backend(NamedStore(name: name, source: .argument))
    }

    private static func keys(
        of source: any CredentialStore, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> [CredentialKey] {
        let account = arguments.optionalOperand("ACCOUNT")
        var keys: [CredentialKey] = []
        for entry in try await source.list(
            service: arguments.optionalOperand("SERVICE"), deadline: context.deadline
        ).all() where account.map({ $0.utf8.elementsEqual(entry.key.account.utf8) }) ?? true {
            keys.append(entry.key)
        }
        return keys.sorted { $0.isListed(before: $1) }
    }
}
