internal import LatchkeyLog
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// `latchkey vault accept-rollback`.
enum VaultAcceptRollbackCommand {
    static let command = Command(
        "vault", "accept-rollback", summary: "go on with an older copy of a vault, such as a restored backup",
        details: """
            A vault that is older than it was seen before is refused, as someone may have put it back: with a password that was
            changed since, or a slot that was removed. After this it is used as it is now; what was changed since is lost.

            To restore a backup that was copied as it is, which is safe while no process writes to the vault: put it at the
            vault's path, with mode 600; see how old it is, and whether it is intact, with latchkey vault verify; run this
            command; and restart programs that had the vault open.

            What latchkey vault export makes is a vault of its own and needs no such step, and neither does a copy on another
            machine, where it wasn't seen before. Where the state directory can't be written, vaults work all the same, and
            latchkey vault verify says that there is no record.
            """,
        examples: ["latchkey vault accept-rollback"]
    ) { _, context in
        let vault = try await context.openVault(onRollback: .accept)
        let what: LogMessage
        var isAccepted = true
        switch vault.rollback {
        case .rolledBack(let rollback):
            context.logger.info("accepted an older copy of \(vault.identity): \(rollback)")
            what = "accepted as it is; \(rollback)"
        case .unreadable:
            context.logger.info("accepted \(vault.identity) without knowing how far it was seen before")
            what = "accepted as it is; what was remembered could not be read"
        case .firstSeen, .current, .notAsked, .unavailable:
            what = "there is nothing to accept"
            isAccepted = false
        }
        try context.output.write(
            "\(vault.identity): \(what)", json: .object([("accepted", .bool(isAccepted)), ("detail", .message(what))]))
        return .success
    }
}
