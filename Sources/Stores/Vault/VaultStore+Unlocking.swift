package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

extension VaultStore {
    /// How long a vault can stay unlocked: from a second to seven days.
    package static let unlockedDurations: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))

    /// Leaves the vault's key in the kernel's keyring of this user for a while, so that others of this user's processes
    /// open it as `VaultKeySource.kernelKeyring`, without a passphrase and without Argon2. A key from before is
    /// replaced.
    ///
    /// Every process of this user can read it there, as Docs/Threats.md says. It opens the vault until its time
    /// is over, until `LockedVault.endUnlocking()`, or until the vault is rekeyed, also when slots were removed.
    ///
    /// - Parameter duration: rounded up to a second; outside of `unlockedDurations` it throws `unsupported`.
    ///
    /// Throws `unavailable` when the kernel refuses, as in many containers, and what a read th
    package func keepUnlocked(for duration: Duration) throws(StoreError) {
        guard Self.unlockedDurations.contains(duration) else {
            throw StoreError(
                .unsupported, "a vault can't stay unlocked for that long",
                hint: "from a second to seven days are possible")
        }
        // Another process may have rekeyed it since it was last read. While one is writing, the key is the one that was
        // last seen.
        _ = try nilIf(\StoreError.isBusy, of: generation())
        let (seconds, rest) = duration.components
        var sink = KernelKeyringSink(vault: keys.vault, seconds: UInt32(seconds) + (rest > 0 ? 1 : 0))
        try keys.root.pour(into: &sink)
    }

    /// Throws `unavailable` when the kernel lets this process have no keyring, so that no question is asked in vain.
    package static func checkUnlocking() throws(StoreError) { try KernelKeyring.check() }
}

extension LockedVault {
    /// Whether the vault is unlocked by `VaultStore.keepUnlocked(for:)`. Throws `unavailable` when the kernel refuses.
    package func unlocking() throws(StoreError) -> VaultUnlocking { try KernelKeyring.unlocking(of: vault) }

    /// Takes the key of `VaultStore.keepUnlocked(for:)` out of the kernel, and returns whether there was one.
    ///
    /// Processes that have the vault open keep it open. Throws `unavailable` when the kernel refuses.
    package func endUnlocking() throws(StoreError) -> Bool { try KernelKeyring.forget(vault) }
}

/// Whether the kernel has a vault's key.
package enum VaultUnlocking: Sendable, Hashable {
    case locked
    /// - Parameter time: for how much longer, rounded down to the unit that the kernel shows; `nil` where it doesn't.
    case unlocked(time: Duration?)
}
