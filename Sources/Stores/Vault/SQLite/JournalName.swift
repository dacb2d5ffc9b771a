internal import CLatchkeyLinux
internal import Synchronization

/// Whether the name of a journal lasts when the power fails: one whose name is lost undoes nothing.
///
/// The folder is synced before a journal is first written by this process. The journal stays from one save to the next,
/// so that once is enough for as long as it is the same file.
enum JournalName {
    private struct Birth: Hashable {
        let device, inode, time: UInt64
    }

    /// The journals whose folders were synced since they were made.
    private static let lasting = Mutex<Set<Birth>>([])
    /// Where a process has more vaults than that, some folders are synced once more.
    private static let capacity = 100

    /// Returns false where the folder can't be synced. SQLite would pass over that (os_unix.c, unixSync).
    static func makeLast(_ path: String) -> Bool {
        // Before the sync: whatever takes its place meanwhile is another file.
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
