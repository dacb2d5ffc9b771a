package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyStoreSelection
package import LatchkeyTerminal

/// Transfers credentials one after another, and shows what became of each.
package struct TransferRun {
    private let transfer: CredentialTransfer
    private let work: StaticString
    private let isRehearsal: Bool
    private let showsJSON: Bool

    /// - Parameters:
    ///   - work: what a progress bar says.
    ///   - isRehearsal: whether nothing is changed.
    package init(transfer: CredentialTransfer, work: StaticString, isRehearsal: Bool, showsJSON: Bool) {
        self.transfer = transfer
        self.work = work
        self.isRehearsal = isRehearsal
        self.showsJSON = showsJSON
    }

    private struct Row {
        let key: CredentialKey
        let outcome: CredentialTransfer.Outcome
    }

    /// Throws when the target holds other secrets that were left alone, after everything else was done and shown.
    package func run(_ keys: [CredentialKey], _ context: CommandContext) async throws -> ExitStatus {
        let rows = try await rows(keys, context)
        if showsJSON {
            try context.output.write(.array(rows.map(json)))
        } else {
            try context.output.write(table(rows))
        }
        let differing = rows.count { $0.outcome == .differs }
        guard differing == 0 else {
            throw CommandFailure(
                .cannotWrite, "transfer.differs",
                """
                \(transfer.target.identity) has other secrets for \(differing) of \(LogMessage.credentials(rows.count)), \
                left alone
                """, hint: "look at them, then give --replace to overwrite the target's")
        }
        return .success
    }

    private func rows(_ keys: [CredentialKey], _ context: CommandContext) async throws -> [Row] {
        defer { context.output.endProgress() }
        var rows: [Row] = []
        for (index, key) in keys.enumerated() {
            context.output.showProgress(work, percent: index * 100 / keys.count)
            let outcome =
                isRehearsal
                ? try await transfer.plan(key, deadline: context.deadline)
                : try await transfer.transfer(key, deadline: context.deadline)
            rows.append(Row(key: key, outcome: outcome))
        }
        return rows
    }

    /// What became of it; of a rehearsal, what would.
    private func result(_ outcome: CredentialTransfer.Outcome) -> LogMessage {
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

    private func json(_ row: Row) -> JSONValue {
        .object([
            ("service", .text(name(row.key.service))), ("account", .text(name(row.key.account))),
            ("kind", .message("\(row.key.kind)")), ("result", .message(result(row.outcome))),
        ])
    }

    private func name(_ text: String) -> LoggableText {
        LoggableText(reviewed: "services and accounts are what a listing shows", unredacted: text)
    }
}
