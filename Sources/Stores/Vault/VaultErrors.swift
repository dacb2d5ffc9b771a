internal import LatchkeyCredentials
internal import LatchkeyLog

extension StoreError {
    static func vaultCorrupted(_ what: LogMessage) -> StoreError {
        StoreError(
            .corrupted, "the vault is damaged or was changed by someone without its key: \(what)",
            hint: "\(Recovery.verifyVault), and restore a backup")
    }

    /// Each item that is there may be sound by itself.
    static var itemsDiffer: StoreError {
        StoreError(
            .corrupted, "credentials of the vault were deleted, restored or moved by someone without its key",
            hint: "\(Recovery.verifyVault) to see how to continue")
    }

    static func noVault(_ what: LogMessage, _ platform: PlatformCode? = nil) -> StoreError {
        StoreError(
            .corrupted, "the file isn't a vault or is damaged: \(what)",
            hint: "check the path; if a vault was there, restore a backup", platform: platform)
    }

    static var vaultBusy: StoreError {
        StoreError(
            .timedOut, "another process kept the vault busy until the deadline",
            hint: "try again, or \(Recovery.allowMoreTime)")
    }

    static func wrongKey(_ cause: LogMessage, hint: LogMessage) -> StoreError {
        StoreError(.wrongKey, cause, hint: hint)
    }

    static func vaultRolledBack(_ rollback: VaultRollback) -> StoreError {
        StoreError(
            .rolledBack, "the vault was replaced with an older copy: \(rollback)",
            hint: """
                if a backup was restored or saves were lost, check the vault with `latchkey vault verify`, then go on with \
                `latchkey vault accept-rollback`
                """)
    }

    /// The vault has another key than the open store.
    static var vaultRekeyed: StoreError {
        StoreError(
            .wrongKey, "the key no longer opens the vault: the vault was rekeyed, or its manifest is damaged",
            hint: "\(Recovery.reopenVault); if that fails too, \(Recovery.verifyVault)")
    }

    /// The open vault is under a key that doesn't follow from the earlier key.
    static var vaultExchanged: StoreError {
        StoreError(
            .rolledBack,
            "while open, the vault was replaced with another vault or a copy from before a rekey, or rekeyed over 16 times",
            hint: "\(Recovery.reopenVault), and \(Recovery.verifyVault)")
    }

    static func vaultWentBack(_ rollback: VaultRollback) -> StoreError {
        StoreError(
            .rolledBack, "while open, the vault was replaced with another copy: \(rollback)",
            hint: "if you restored a backup on purpose, \(Recovery.reopenVault)")
    }

    /// The change was made, but the disk didn't confirm it.
    static func changeNotDurable(_ error: StoreError) -> StoreError {
        StoreError(
            .cannotWrite, "the vault contains the change, but the system couldn't confirm that it is on the disk",
            hint: "check the disk, then make the change again", platform: error.platform)
    }

    /// A container has the vault's file without the directory around it.
    static var mountedAlone: StoreError {
        StoreError(
            .cannotWrite,
            "the vault's file is mounted without its directory, so an interrupted change would damage the vault",
            hint: "mount the directory that contains the vault")
    }

    static var changedMemory: StoreError {
        StoreError(
            .rolledBack,
            "the rollback record doesn't open with the vault's key: the record was changed, or this is a different vault",
            hint: """
                if you restored a backup from before `latchkey vault rekey`, or rekeyed the vault more than 16 times since its last use \
                here, run `latchkey vault accept-rollback`
                """)
    }
}
