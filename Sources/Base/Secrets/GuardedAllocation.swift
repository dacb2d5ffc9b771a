internal import CLatchkeySodium

/// One allocation of libsodium's guarded heap: guard pages around it, a canary before it, no core dump, locked when
/// the system permits it, and wiped when it is freed.
///
/// The owner must call `free()` once; the pool in `Secrets` and the deinitialisers above it do.
@safe package struct GuardedAllocation: @unchecked Sendable {
    // Sendable: the address never changes, and the owners serialise what they do with the bytes behind it.
    package let base: UnsafeMutableRawPointer
    /// In bytes.
    package let byteCount: Int
    /// Whether the pages are locked in memory (mlock(2)), so that they never reach swap.
    package let isLocked: Bool

    /// Allocates `byteCount` bytes, zeroed. Stops the process when there is no memory left.
    package init(byteCount: Int) {
        SodiumLibrary.start()
        guard let base = unsafe sodium_malloc(max(byteCount, 1)) else {
            preconditionFailure("no guarded memory left")
        }
        unsafe sodium_memzero(base, max(byteCount, 1))
        // sodium_malloc locks but hides the status; locking again reports it (RLIMIT_MEMLOCK, mlock(2)).
        unsafe isLocked = sodium_mlock(base, max(byteCount, 1)) == 0
        unsafe self.base = unsafe base
        self.byteCount = byteCount
    }

    /// Checks the canary, wipes, unlocks and releases the memory.
    package func free() {
        unsafe sodium_free(base)
    }
}
