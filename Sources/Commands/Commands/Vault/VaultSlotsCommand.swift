internal import LatchkeyVault

/// `latchkey vault slots [--json]`.
enum VaultSlotsCommand {
    static let command = Command(
        "vault", "slots", summary: "list the ways to open a vault",
        details: """
            Each slot contains the vault's key, encrypted with a passphrase or another key. Any slot opens the whole vault.
            """,
        examples: ["latchkey vault slots"]
    ) { arguments, context in
        let slots = try await context.openVault().slots(deadline: context.deadline)
            .sorted { $0.name.text.utf8.lexicographicallyPrecedes($1.name.text.utf8) }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(slots.map(json)))
        } else {
            try context.output.write(table(slots))
        }
        return .success
    }

    private static func table(_ slots: [KeySlotDescription]) -> TextTable {
        var table = TextTable("NAME", "KIND", "CREATED", "COST", dropping: ["COST", "CREATED"])
        for slot in slots {
            let cost: LogMessage = slot.cost.map { "\($0.memoryByteCount >> 20) MiB × \($0.passes)" } ?? "-"
            table.append("\(slot.name)", "\(slot.kind)", "\(Moment(slot.created))", cost)
        }
        return table
    }

    private static func json(_ slot: KeySlotDescription) -> JSONOutput {
        .object([
            ("name", .message("\(slot.name)")), ("kind", .message("\(slot.kind)")),
            ("created", .message("\(Moment(slot.created))")),
        ])
    }
}

extension CommandContext {
    /// Opens the vault itself, whichever store is chosen for credentials.
    func openVault(
        onRollback choice: RollbackChoice = .refuse, itemCheck: ItemCheck = .whenSmall
    ) async throws(StoreError) -> VaultStore {
        var settings = settings
        settings.vaultMemory?.onRollback = choice
        settings.vaultItemCheck = itemCheck
        return try await settings.openVault()
    }
}

extension KeySlotName {
    /// Takes a name from the command line.
    init(argument text: String) throws(CommandFailure) {
        guard let name = KeySlotName(text) else {
            throw CommandFailure(
                .usage, "slot.bad-name", "a key slot's name has 1 to 64 bytes without control characters")
        }
        self = name
    }
}
