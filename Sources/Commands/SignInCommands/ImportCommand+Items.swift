internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySecretService
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal
internal import LatchkeyVault

// `latchkey import --from gnome-keyring-collection --items`: a keyring moves into a vault as it is, so that programs find
// their items there once the vault is served.

extension ImportCommand {
    /// What became of an item.
    private struct Row: Sendable {
        let label: String
        let attributes: ItemAttributes
        let outcome: CredentialTransfer.Outcome
    }

    private enum Taken: Sendable {
        case row(Row)
        /// Its attributes are none that a vault takes.
        case skipped
        /// A credential of another kind.
        case notAnItem
    }

    static func importItems(
        of source: Source, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> ExitStatus {
        guard source == .collection else {
            throw CommandFailure(
                .usage, "usage.bad-value", "\(SignInDefinitions.importItems.name) is not for \(source.name)",
                hint: "only a keyring's items have attributes: --from \(Source.collection.name)")
        }
        let collection = try source.keyringCollection(arguments.optionalOperand("FILE"), context)
        guard let vault = try await context.openStoreToCopyInto() as? VaultStore else {
            throw CommandFailure(
                .usage, "usage.not-a-vault", "only a vault has items with attributes of their own",
                hint: "--store vault names it")
        }
        let isRehearsal = arguments.has(TransferCommand.dryRun)
        let items = vault.itemStore()
        var rows: [Row] = []
        // What sign-ins have stored isn't an item.
        let transfer = CredentialTransfer(
            from: collection, to: vault, mode: .copy, replaces: arguments.has(TransferCommand.replace))
        for entry in try await collection.list(deadline: context.deadline).all() where entry.key.kind != .password {
            let outcome =
                isRehearsal
                ? try await transfer.plan(entry.key, deadline: context.deadline)
                : try await transfer.transfer(entry.key, deadline: context.deadline)
            rows.append(Row(label: entry.label, attributes: ItemAttributes(entry.key), outcome: outcome))
        }
        let replaces = transfer.replaces
        let taken = try await collection.mapItems(deadline: context.deadline) {
            (item) async throws(StoreError) -> Taken in
            if let key = item.key, key.kind != .password { return .notAnItem }
            guard let attributes = ItemAttributes(imported: item.attributes) else { return .skipped }
            let outcome = try await take(
                item, attributes, into: items, replaces: replaces, isRehearsal: isRehearsal, context.deadline)
            return .row(Row(label: item.label, attributes: attributes, outcome: outcome))
        }
        var skippedCount = 0
        for item in taken {
            switch item {
            case .row(let row): rows.append(row)
            case .skipped: skippedCount += 1
            case .notAnItem: break
            }
        }
        if skippedCount > 0 {
            context.output.note(
                LogMessage.counted(
                    skippedCount, "item has more attributes than a vault takes, and was left out",
                    "items have more attributes than a vault takes, and were left out"))
        }
        return try tell(rows, isRehearsal: isRehearsal, vault, arguments, context)
    }

    private static func take(
        _ item: KeyringItemContent, _ attributes: ItemAttributes, into items: some ItemStore, replaces: Bool,
        isRehearsal: Bool, _ deadline: Deadline
    ) async throws(StoreError) -> CredentialTransfer.Outcome {
        let present = try await items.search(attributes, in: "login", deadline: deadline)
            .first { $0.attributes == attributes }
        if let present, let secret = try await items.secret(of: present.id, deadline: deadline) {
            if secret.secret.matches(item.secret) { return .same }
            guard replaces else { return .differs }
        }
        let outcome: CredentialTransfer.Outcome = present == nil ? .copied : .replaced
        if isRehearsal { return outcome }
        let made = try await items.create(
            ItemSecret(item.secret.duplicate(as: ItemContent.self), contentType: item.contentType),
            attributes: attributes, label: item.label, in: "login", replacing: true, deadline: deadline)
        guard let written = try await items.secret(of: made.item.id, deadline: deadline),
            written.item?.version == made.item.version
        else {
            throw StoreError(
                .conflict, "another process changed the item at the same time", hint: "run the command again")
        }
        guard written.secret.matches(item.secret) else {
            throw StoreError(
                .corrupted, "the vault does not return the secret that it was given", hint: "\(Recovery.verifyVault)")
        }
        return outcome
    }

    private static func tell(
        _ rows: [Row], isRehearsal: Bool, _ vault: VaultStore, _ arguments: ParsedArguments, _ context: CommandContext
    ) throws -> ExitStatus {
        guard !rows.isEmpty else {
            throw CommandFailure(
                .notFound, "credential.not-found", "there is nothing to import", hint: "the collection has no items")
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
                "\(vault.identity) has other secrets for \(differing) of \(rows.count) items, left alone",
                hint: "look at them, then give --replace to overwrite the target's")
        }
        return .success
    }

    private static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "labels and attributes are what a listing shows", unredacted: text)
    }
}

extension ItemAttributes {
    /// gnome-keyring gives a schema to what was made without one; it would keep a credential from being one.
    fileprivate init?(imported named: [String: String]) {
        var named = named
        if named.count == 3, named["service"] != nil, named["username"] != nil,
            named["xdg:schema"] == "org.freedesktop.Secret.Generic"
        {
            named["xdg:schema"] = nil
        }
        self.init(named.map { Attribute(name: $0.key, value: $0.value) })
    }
}
