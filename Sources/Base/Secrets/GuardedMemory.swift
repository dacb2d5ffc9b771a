internal import CLatchkeySodium
internal import Synchronization

/// A piece of guarded memory, owned by one `Secret` or `SecretBuilder`.
@safe struct GuardedBlock: @unchecked Sendable {
    // Sendable: exactly one noncopyable owner holds a block at a time.
    let base: UnsafeMutableRawPointer
    /// Bytes that may be used, the closing canary not counted.
    let capacity: Int
    let isLocked: Bool
    /// The pool's size class, or `nil` for an allocation of its own.
    let sizeClass: Int?
    let allocation: GuardedAllocation

    var bytes: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(start: base, count: capacity) }
}

/// Hands out guarded memory.
///
/// `sodium_malloc` takes about 26 µs and three guard pages a call, so blocks up to 4,080 bytes share slabs that stay
/// allocated; each block ends in a random canary that is checked when the block comes back. Larger blocks are allocations
/// of their own.
///
/// The first slabs of a size have two pages, or three, so that several fit into `ulimit -l 64`. Later ones have more,
/// because Linux permits a process 65,530 mappings, and each allocation has four.
final class GuardedPool: Sendable {
    static let shared = GuardedPool()

    static let canaryByteCount = 16
    static let blockSizes = [64, 128, 256, 512, 1024, 4096]
    /// libsodium puts its own 16-byte canary before the data: together they are exactly two pages.
    static let slabByteCount = 8192 - 16

    private static let smallSlabCount = 4
    private static let maximumDoublings = 6

    private struct State {
        var free: [[GuardedBlock]] = Array(repeating: [], count: blockSizes.count)
        /// How many slabs each size has.
        var slabCounts = Array(repeating: 0, count: blockSizes.count)
    }

    private let state = Mutex(State())
    /// Not a secret: it only has to be unlike what a stray write leaves behind.
    private let canary: [UInt8]

    init() {
        SodiumLibrary.start()
        guard let octets = try? RandomOctets.array(Self.canaryByteCount) else {
            preconditionFailure("the kernel gave no random octets")
        }
        canary = octets
    }

    /// Returns a zeroed block with room for at least `byteCount` bytes.
    func take(byteCount: Int) -> GuardedBlock {
        let needed = byteCount + Self.canaryByteCount
        guard let sizeClass = Self.blockSizes.firstIndex(where: { $0 >= needed }) else {
            let allocation = GuardedAllocation(byteCount: byteCount)
            return unsafe GuardedBlock(
                base: allocation.base, capacity: byteCount, isLocked: allocation.isLocked, sizeClass: nil,
                allocation: allocation)
        }
        return state.withLock { state in
            if let block = state.free[sizeClass].popLast() { return block }
            let doublings = min(max(0, state.slabCounts[sizeClass] - Self.smallSlabCount), Self.maximumDoublings)
            let count = max(2, Self.slabByteCount / Self.blockSizes[sizeClass])
            var blocks = carve(sizeClass, count: count << doublings)
            state.slabCounts[sizeClass] += 1
            defer { state.free[sizeClass] = blocks }
            return blocks.removeLast()
        }
    }

    /// Wipes a block and takes it back. Stops the process when something wrote past its end.
    func revoke(_ block: GuardedBlock) {
        guard let sizeClass = block.sizeClass else {
            block.allocation.free()
            return
        }
        let end = unsafe UnsafeRawBufferPointer(start: block.base + block.capacity, count: Self.canaryByteCount)
        let expected = canary
        let intact = unsafe constantTimeEqual(Span(_unsafeBytes: end), expected.span)
        precondition(intact, "guarded memory was overwritten past its end")
        var all = unsafe MutableSpan<UInt8>(_unsafeBytes: block.bytes)
        wipe(&all)
        state.withLock { $0.free[sizeClass].append(block) }
    }

    private func carve(_ sizeClass: Int, count: Int) -> [GuardedBlock] {
        let size = Self.blockSizes[sizeClass]
        let slab = GuardedAllocation(byteCount: max(Self.slabByteCount, count * size))
        return (0..<count).map { index in
            let base = unsafe slab.base + index * size
            let capacity = size - Self.canaryByteCount
            for (offset, byte) in canary.enumerated() {
                unsafe base.storeBytes(of: byte, toByteOffset: capacity + offset, as: UInt8.self)
            }
            return unsafe GuardedBlock(
                base: base, capacity: capacity, isLocked: slab.isLocked, sizeClass: sizeClass, allocation: slab)
        }
    }
}

/// One allocation of libsodium's guarded heap: guard pages around it, a canary before it, no core dump, locked when
/// the system permits it, and wiped when it is freed.
///
/// The owner must call `free()` once; the pool in `Secrets` and the deinitialisers above it do.
@safe package struct GuardedAllocation: @unchecked Sendable {
    // Sendable: the address never changes, and the owners serialise their work on the bytes.
    package let base: UnsafeMutableRawPointer
    /// In bytes.
    package let byteCount: Int
    /// Whether the pages are locked in memory (mlock(2)), so that they never reach swap.
    package let isLocked: Bool

    private static let count = Atomic(0)
    /// Whether so many are in use that Linux may soon refuse the process another mapping.
    package static var areScarce: Bool { count.load(ordering: .relaxed) > 12_000 }

    /// Allocates `byteCount` bytes, zeroed. Stops the process if the memory is used up.
    package init(byteCount: Int) {
        SodiumLibrary.start()
        Self.count.add(1, ordering: .relaxed)
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
        Self.count.subtract(1, ordering: .relaxed)
        unsafe sodium_free(base)
    }
}

/// The protection of a secret's memory.
package enum MemoryProtection: Sendable, Hashable {
    /// Locked in memory (mlock(2)): it never reaches swap.
    case locked
    /// The system refused to lock the memory, usually because of `RLIMIT_MEMLOCK`. The memory is still guarded, left out
    /// of core dumps and wiped.
    case unlocked
}
