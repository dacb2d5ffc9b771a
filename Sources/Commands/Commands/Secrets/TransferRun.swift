/// Transfers credentials one after another, and shows what became of each.
struct TransferRun {
    let transfer: Transfer
    /// What a progress bar says.
    let work: StaticString
    /// Whether nothing is changed.
    let isRehearsal: Bool
    let showsJSON: Bool

    private struct Row {
        let key: CredentialKey
        let outcome: Transfer.Outcome
    }

    private struct ItemRow {
        let item: Item
        let outcome: Transfer.Outcome
    }

    /// Copies the secrets and shows the result, also if an error ends the work. Then it throws that error, or one if some
    /// couldn't be transferred: the target already had other secrets under these names, or there was a conflict.
    ///
    /// - Parameter items: that go along, where the stores take them.
    func run(
        _ keys: [CredentialKey], items: [Item] = [], _ context: CommandContext
    ) async throws -> ExitStatus {
        var rows: [Row] = []
        var itemRows: [ItemRow] = []
        var stop: (any Error)?
        var conflict: StoreError?
        do {
            conflict = try await transfer(keys, items, &rows, &itemRows, context)
        } catch {
            stop = error
        }
        if let stop {
            // The error that ended the work counts more than a closed output.
            if !(rows.isEmpty && itemRows.isEmpty) { try? show(rows, itemRows, context) }
            throw stop
        }
        try show(rows, itemRows, context)
        let differing = (rows.map(\.outcome) + itemRows.map(\.outcome)).count { $0 == .differs }
        if let conflict {
            throw CommandFailure(
                .cannotWrite, "transfer.differs",
                "\(differing) of \(LogMessage.credentials(rows.count + itemRows.count)) stay where they are: \(conflict.cause)",
                hint: conflict.hint ?? "compare them, then run the command again")
        }
        guard differing == 0 else {
            throw CommandFailure(
                .cannotWrite, "transfer.differs",
                """
                \(transfer.target.identity) has other secrets for \(differing) of \(LogMessage.credentials(rows.count + itemRows.count)), \
                which stay unchanged
                """, hint: "compare them, then add --replace to overwrite the secrets in the target")
        }
        return .success
    }

    private func show(_ rows: [Row], _ itemRows: [ItemRow], _ context: CommandContext) throws {
        if showsJSON {
            try context.output.write(.array(rows.map(json) + itemRows.map(json)))
        } else {
            try context.output.write(table(rows))
            try context.output.write(table(itemRows))
        }
    }

    private func transfer(
        _ keys: [CredentialKey], _ items: [Item], _ rows: inout [Row], _ itemRows: inout [ItemRow],
        _ context: CommandContext
    ) async throws -> StoreError? {
        var conflict: StoreError?
        let progress = context.output.progress(work, of: keys.count + items.count)
        defer { progress.end() }
        var arrived: Set<ItemID> = []
        let keysOfItems = Set(items.compactMap(\.key))
        // Before the items that are read as the same: none of them takes a credential's place.
        for key in keys {
            progress.show(rows.count)
            let result = await Result<Transfer.Outcome, StoreError>(
                awaiting: try await transfer.transfer(key, onlyLooks: isRehearsal, deadline: context.deadline))
            // One that can't be moved holds up no other.
            if case .failure(let error) = result, error.code == .conflict {
                conflict = conflict ?? error
                rows.append(Row(key: key, outcome: .differs))
                continue
            }
            let outcome = try result.get()
            rows.append(Row(key: key, outcome: outcome))
            if keysOfItems.contains(key),
                let id = try await transfer.arrival(key, deadline: context.deadline)
            {
                arrived.insert(id)
            }
        }
        for item in items {
            progress.show(keys.count + itemRows.count)
            let outcome = try await transfer.transfer(
                item, onlyLooks: isRehearsal, arrived: &arrived, deadline: context.deadline)
            itemRows.append(ItemRow(item: item, outcome: outcome))
        }
        return conflict
    }

    /// The outcome, or the expected one for a rehearsal.
    private func result(_ outcome: Transfer.Outcome) -> LogMessage {
        switch outcome {
        case .copied: isRehearsal ? "would copy" : "copied"
        case .moved: isRehearsal ? "would move" : "moved"
        case .replaced: isRehearsal ? "would replace" : "replaced"
        case .same, .differs, .vanished: "\(outcome)"
        }
    }

    private func table(_ rows: [Row]) -> TextTable {
        var table = TextTable("SERVICE", "ACCOUNT", "KIND", "RESULT", dropping: ["KIND"])
        for row in rows {
            table.append(
                "\(name(row.key.service))", "\(name(row.key.account))", "\(row.key.kind)", result(row.outcome))
        }
        return table
    }

    private func json(_ row: Row) -> JSONOutput {
        .object([
            ("service", .text(name(row.key.service))), ("account", .text(name(row.key.account))),
            ("kind", .message("\(row.key.kind)")), ("result", .message(result(row.outcome))),
        ])
    }

    private func table(_ rows: [ItemRow]) -> TextTable {
        var table = TextTable("LABEL", "ATTRIBUTES", "COLLECTION", "RESULT", dropping: ["COLLECTION", "ATTRIBUTES"])
        for row in rows {
            table.append(
                "\(name(row.item.label))", "\(name(row.item.attributes.listed))", "\(name(row.item.collection))",
                result(row.outcome))
        }
        return table
    }

    private func json(_ row: ItemRow) -> JSONOutput {
        .object([
            ("kind", .message("item")), ("label", .text(name(row.item.label))),
            ("attributes", .attributes(row.item.attributes)), ("collection", .text(name(row.item.collection))),
            ("result", .message(result(row.outcome))),
        ])
    }

    private func name(_ text: String) -> LoggableText {
        LoggableText(reviewed: "names, labels and attributes are what a listing shows", unredacted: text)
    }
}
