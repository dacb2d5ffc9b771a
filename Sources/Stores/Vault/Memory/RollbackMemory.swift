package import LatchkeyCredentials
public import LatchkeyLog

/// Where it is remembered how far each vault was seen, so that a file put back to an older state as a whole is noticed:
/// inside, such a file is sound, and only someone who saw a newer one can tell.
///
/// Each vault has a small file there, sealed under the vault's own key and named by a hash of the vault's id: it
/// doesn't show how often the vault was changed, and no process without the key can write another one. Whoever may
/// delete it can make the vault be forgotten, which nothing notices; so can a power failure with what was seen in its
/// last half minute.
public struct RollbackMemory: Sendable {
    /// Absolute. It is made (0700) when it is missing.
    package let directory: String
    package var onRollback: RollbackChoice
    let logger: RedactedLogger

    /// - Parameters:
    ///   - directory: `$XDG_STATE_HOME/latchkey/vaults`, for one.
    ///   - onRollback: what opening does with an older copy; it is refused unless told otherwise.
    ///   - logger: told when nothing can be remembered, which keeps no process from reading or saving: as `info` when a
    ///     vault is opened, as `warning` when one was changed.
    public init(directory: String, onRollback: RollbackChoice = .refuse, logger: RedactedLogger = .disabled) {
        self.directory = directory
        self.onRollback = onRollback
        self.logger = logger.category("latchkey.vault")
    }
}

/// What opening does with a vault that is older than it was seen before.
public enum RollbackChoice: Sendable, Hashable {
    /// Throw `rolledBack`, or `corrupted` when what was remembered was changed by someone without the key.
    case refuse
    /// Open it all the same; ``VaultStore/verify(deadline:)`` reports it. What is remembered stays.
    case report
    /// Open it, and remember it as the newest state there is.
    case accept
}

/// What was remembered of a vault when it was opened.
package enum RollbackCheck: Sendable, Hashable {
    /// No `RollbackMemory` was given.
    case notAsked
    /// Nothing was: an older copy of it would not have been noticed.
    case firstSeen
    /// The vault is as far as it was seen, or farther.
    case current
    /// The vault was put back to an older state.
    case rolledBack(VaultRollback)
    /// What was remembered was changed by someone without the key, or damaged.
    case unreadable
    /// The memory can't be used, so that nothing can be noticed.
    case unavailable(StoreError)
}

/// How far a vault's file went back.
public struct VaultRollback: Sendable, Hashable, Loggable {
    /// How many transactions the file has seen that is there now.
    package let generation: UInt64
    /// How many the newest one that was seen had. When it is the same number, the file has another content: both are
    /// changed copies of an older one.
    package let seenGeneration: UInt64

    /// Safe: counts of transactions.
    public var logMessage: LogMessage {
        seenGeneration == generation
            ? "it is another copy than the one that was seen before, at generation \(generation)"
            : "its generation is \(generation), and \(seenGeneration) was seen before"
    }
}
