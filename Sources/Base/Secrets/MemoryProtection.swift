/// How the memory of a secret is kept.
package enum MemoryProtection: Sendable, Hashable {
    /// Locked in memory (mlock(2)): it never reaches swap.
    case locked
    /// The system refused to lock it, usually for `RLIMIT_MEMLOCK`. It is still guarded, left out of core dumps and
    /// wiped.
    case unlocked
}
