package import LatchkeyCredentials

/// What `VaultStore.acceptItems` did with the items of a vault that someone changed without its key.
package struct VaultAcceptance: Sendable, Hashable {
    /// How many credentials there are now.
    package let itemCount: Int
    /// What was removed: items that can't be opened, and those that are too many.
    package let dropped: [VaultProblem]
    /// What had been moved, and is where it belongs again.
    package let restored: [VaultProblem]
    /// How what is left differs from what was saved last. That is lost; `nil`: nothing is.
    package let lost: VaultProblem?
    /// Whether the index of attributes wasn't the one that was saved last, and was made anew. Nothing of it is lost.
    package var hasNewIndex = false
}

extension VaultStore {
    /// Goes on with the items of a vault as they are, after others changed them without the key: removes what can't be
    /// opened or is there twice, puts back what was moved, takes the rest for what was saved last, and makes the index of
    /// attributes anew. Slots and keys stay.
    ///
    /// What was taken away or put back to an older state stays so. Open the vault with `ItemCheck.never` for it.
    ///
    /// Throws `corrupted`, and changes nothing, when pages of the file are damaged.
    package func acceptItems(deadline: Deadline = .after(.seconds(600))) async throws(StoreError) -> VaultAcceptance {
        try await rows.acceptItems(deadline: deadline)
    }
}
