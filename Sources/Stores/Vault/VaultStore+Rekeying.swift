public import LatchkeyCredentials

extension VaultStore {
    /// Gives the vault a new root key, seals every credential and every key slot anew, and returns how many credentials
    /// there are.
    ///
    /// What opened the vault before and isn't a slot of it any more opens nothing that is saved from then on: a copy
    /// from before with a key that was withdrawn, or the key that an unlocking left in the kernel, which is taken out
    /// of it. No slot's passphrase or key is needed, and each slot opens the vault as before. Processes that have it
    /// open by a slot go on; those that have it open by the kernel's key throw `wrongKey`.
    ///
    /// It is one transaction: whatever ends it, the vault is the old one or the new one. Others wait to write
    /// meanwhile, and for a large vault to read.
    ///
    /// - Parameters:
    ///   - deadline: a day from now unless told otherwise.
    ///   - progress: told now and then how far it is, from 0 to 1.
    ///
    /// Throws `corrupted` when a credential can't be opened or isn't the one that was saved last, and `unsupported` for
    /// a vault with key slots of a newer kind; nothing is changed then.
    @discardableResult
    public func rekey(
        deadline: Deadline = .after(.seconds(86_400)), progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(StoreError) -> Int {
        let count = try await rows.rekey(deadline: deadline, progress: progress)
        // It opens nothing any more. Where the kernel refuses, it has none.
        _ = try? KernelKeyring.forget(rows.keys.vault)
        return count
    }
}
