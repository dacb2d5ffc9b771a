internal import Credentials
internal import RedactedLog

extension StoreError {
    static func vaultCorrupted(_ what: LogMessage) -> StoreError {
        StoreError(
            .corrupted, "the vault is damaged or was changed by someone without its key: \(what)",
            hint: "run `latchkey vault verify`, and restore a backup")
    }

    static func noVault(_ what: LogMessage, _ platform: PlatformCode? = nil) -> StoreError {
        StoreError(
            .corrupted, "the file is no vault, or was damaged: \(what)",
            hint: "check the path; if a vault was there, restore a backup", platform: platform)
    }

    static var vaultBusy: StoreError {
        StoreError(
            .timedOut, "another process kept the vault busy until the deadline", hint: "try again, or raise --timeout")
    }

    static func wrongKey(_ cause: LogMessage, hint: LogMessage) -> StoreError {
        StoreError(.wrongKey, cause, hint: hint)
    }

    static func vaultRolledBack(_ rollback: VaultRollback) -> StoreError {
        StoreError(
            .rolledBack, "the vault was put back to an older state: \(rollback)",
            hint: """
                if you restored a backup, check it with `latchkey vault verify`, then go on with \
                `latchkey vault accept-rollback`
                """)
    }

    static var vaultWentBack: StoreError {
        StoreError(
            .rolledBack, "the vault was put back to an older state while it was open",
            hint: "open it again, where a backup was restored on purpose")
    }

    /// The change was made, and the disk didn't say that it keeps it.
    static func changeNotDurable(_ error: StoreError) -> StoreError {
        StoreError(
            .cannotWrite, "the change is in the vault, but the system could not say that the disk keeps it",
            hint: "see to the disk, then make the change again", platform: error.platform)
    }

    static var changedMemory: StoreError {
        StoreError(
            .corrupted, "what was remembered of the vault is damaged or was changed by someone without its key",
            hint: """
                whether the vault is an older copy of itself can't be told; to go on, \
                `latchkey vault accept-rollback`
                """)
    }
}
