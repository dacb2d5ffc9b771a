internal import LatchkeySecretService

// `latchkey import --from gnome-keyring-collection --items`: copies a keyring into a vault unchanged, so that programs
// find their items there once the vault is served.

extension ImportCommand {
    /// The outcome for an item.
    private struct Row: Sendable {
        let label: String
        let attributes: ItemAttributes
        let outcome: Transfer.Outcome
    }

    static func importItems(
        of source: Source, _ file: String?, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> ExitStatus {
        guard source == .collection else {
            throw CommandFailure(
                .usage, "usage.bad-value", "\(ImportCommand.items.name) is not for \(source.name)",
                hint: "only a keyring's items have attributes: --from \(Source.collection.name)")
        }
        let collection = try source.keyringCollection(file, context)
        let vault = try await context.openStoreToCopyInto()
        guard vault.collections != nil else {
            throw CommandFailure(
                .usage, "usage.not-a-vault", "--items needs a vault",
                hint: "add --store vault")
        }
        let isRehearsal = arguments.has(TransferCommand.dryRun)
        var rows: [Row] = []
        // The sessions of sign-ins aren't items.
        let transfer = Transfer(
            from: collection, to: vault, mode: .copy, replaces: arguments.has(TransferCommand.replace))
        // A vault's own key would open nothing in the vault.
        for entry in try await collection.list(deadline: context.deadline).all()
        where entry.key.kind != .password && !VaultKeyring.isVaultKey(entry.key) {
            let outcome = try await transfer.transfer(
                entry.key, onlyLooks: isRehearsal, deadline: context.deadline)
            rows.append(Row(label: entry.label, attributes: ItemAttributes(entry.key), outcome: outcome))
        }
        var skippedCount = 0
        var arrived: Set<ItemID> = []
        for item in try await collection.search(ItemAttributes(), in: nil, deadline: context.deadline) {
            guard item.attributes.areWithinLimits else {
                skippedCount += 1
                continue
            }
            let outcome = try await transfer.transfer(
                item, onlyLooks: isRehearsal, arrived: &arrived, deadline: context.deadline)
            // An item that another program has deleted in the meantime doesn't count.
            if outcome != .vanished {
                rows.append(Row(label: item.label, attributes: item.attributes, outcome: outcome))
            }
        }
        if skippedCount > 0 {
            context.output.note(
                LogMessage.counted(
                    skippedCount, "item was skipped because a vault can't take so many attributes",
                    "items were skipped because a vault can't take so many attributes"))
        }
        return try tell(rows, isRehearsal: isRehearsal, vault, arguments, context)
    }

    private static func tell(
        _ rows: [Row], isRehearsal: Bool, _ vault: any CredentialStore, _ arguments: ParsedArguments,
        _ context: CommandContext
    ) throws -> ExitStatus {
        guard !rows.isEmpty else {
            throw CommandFailure(
                .notFound, "credential.not-found", "nothing to import", hint: "the collection is empty")
        }
        func result(_ row: Row) -> LogMessage {
            switch row.outcome {
            case .copied where isRehearsal: "would copy"
            case .replaced where isRehearsal: "would replace"
            default: "\(row.outcome)"
            }
        }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(
                .array(
                    rows.map { row in
                        .object([
                            ("label", .text(shown(row.label))), ("attributes", .attributes(row.attributes)),
                            ("result", .message(result(row))),
                        ])
                    }))
        } else {
            var table = TextTable("LABEL", "ATTRIBUTES", "RESULT", dropping: ["ATTRIBUTES"])
            for row in rows {
                table.append("\(shown(row.label))", "\(shown(row.attributes.listed))", result(row))
            }
            try context.output.write(table)
        }
        let differing = rows.count { $0.outcome == .differs }
        guard differing == 0 else {
            throw CommandFailure(
                .cannotWrite, "transfer.differs",
                "\(vault.identity) has other secrets for \(differing) of \(rows.count) items, which stay unchanged",
                hint: "compare them, then add --replace to overwrite the secrets in the vault")
        }
        return .success
    }

    private static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "labels and attributes are what a listing shows", unredacted: text)
    }
}
