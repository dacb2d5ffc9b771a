internal import CLatchkeyLinux
internal import LatchkeySystem
internal import Synchronization

/// XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), to find damage: it detects any flipped bit, and costs less
/// than reading a page from the system's memory. Encryption detects forgeries.
///
/// The code doesn't allocate, because it runs for every page that SQLite reads.
enum PageChecksum {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func digest(_ message: Span<UInt8>, seed: UInt64) -> UInt64 {
        unsafe message.withUnsafeBytes { unsafe digest(of: $0, seed: seed) }
    }

    private static func digest(of bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var offset = 0
        var hash = seed &+ prime5
        if bytes.count >= 32 {
            var (first, second) = (seed &+ prime1 &+ prime2, seed &+ prime2)
            var (third, fourth) = (seed, seed &- prime1)
            while offset + 32 <= bytes.count {
                first = round(first, word(offset))
                second = round(second, word(offset + 8))
                third = round(third, word(offset + 16))
                fourth = round(fourth, word(offset + 24))
                offset += 32
            }
            hash = rotate(first, 1) &+ rotate(second, 7) &+ rotate(third, 12) &+ rotate(fourth, 18)
            hash = merge(merge(merge(merge(hash, first), second), third), fourth)
        }
        hash &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            hash = rotate(hash ^ round(0, word(offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt32(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash = rotate(hash ^ UInt64(half) &* prime1, 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash = unsafe rotate(hash ^ UInt64(bytes[offset]) &* prime5, 11) &* prime1
            offset += 1
        }
        hash = (hash ^ hash &>> 33) &* prime2
        hash = (hash ^ hash &>> 29) &* prime3
        return hash ^ hash &>> 32
    }

    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value &<< count | value &>> (64 &- count) }

    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotate(lane &+ word &* prime2, 31) &* prime1
    }

    private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }
}

/// Whether the name of a journal survives a power failure. A journal without its name can't undo a transaction.
///
/// This process syncs the folder before its first write to a journal. The journal stays from one save to the next, so
/// one sync is enough for the same file.
enum JournalName {
    private struct Birth: Hashable {
        let device, inode, time: UInt64
    }

    /// The journals whose folders were synced since they were made.
    private static let lasting = Mutex<Set<Birth>>([])
    /// The limit of known journals. If there are more vaults, some folders are synced once more.
    private static let capacity = 100

    /// Returns false where the folder can't be synced. SQLite would pass over that (os_unix.c, unixSync).
    static func makeLast(_ path: String) -> Bool {
        // Read before the sync, to notice a file that replaces the journal in the meantime.
        let birth = birth(of: path)
        if let birth, lasting.withLock({ $0.contains(birth) }) { return true }
        guard PrivateDirectory.synchronise(of: path) == 0 else { return false }
        guard let birth else { return true }
        lasting.withLock { lasting in
            if lasting.count >= capacity { lasting = [] }
            lasting.insert(birth)
        }
        return true
    }

    private static func birth(of path: String) -> Birth? {
        var found = latchkey_birth()
        guard unsafe latchkey_birth_of(path, &found) == 0 else { return nil }
        return Birth(device: found.device, inode: found.inode, time: found.time)
    }
}
