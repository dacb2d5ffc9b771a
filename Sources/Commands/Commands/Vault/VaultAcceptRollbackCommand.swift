internal import LatchkeyVault

/// `latchkey vault accept-rollback`.
enum VaultAcceptRollbackCommand {
    static let command = Command(
        "vault", "accept-rollback", summary: "accept an older copy of a vault, such as a restored backup",
        details: """
            Latchkey refuses a vault that is older than the last seen state, or lacks a change that was saved here, because someone
            may have replaced the vault with a copy from before a change. After accept-rollback, the present copy is the vault;
            what it lacks is lost.

            To restore a backup that is a plain copy of the vault's file:

              1.  stop programs that use the vault, delete its file VAULT-journal, and copy the file to its path, with mode 600
              2.  run `latchkey vault verify` to see how old and whether intact the copy is
              3.  run `latchkey vault accept-rollback`, and start the programs again

            A file that `latchkey vault export` wrote doesn't need this, and neither does a copy on another machine.
            """,
        examples: ["latchkey vault accept-rollback"]
    ) { _, context in
        let vault = try await context.openVault(onRollback: .accept)
        let what: LogMessage
        var isAccepted = true
        switch vault.rollback {
        case .rolledBack(let rollback):
            context.logger.info("accepted an older copy of \(vault.identity): \(rollback)")
            what = "accepted; \(rollback)"
        case .unreadable:
            context.logger.info("accepted \(vault.identity) without knowing its last seen state")
            what = "accepted; the last seen state couldn't be read"
        case .firstSeen, .current, .notAsked, .unavailable:
            what = "nothing to accept"
            isAccepted = false
        }
        try context.output.write(
            "\(vault.identity): \(what)", json: .object([("accepted", .bool(isAccepted)), ("detail", .message(what))]))
        return .success
    }
}
