internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// File descriptors that are held for a save which must not fail for want of them: a vault needs its journal, its
/// folder and what is remembered of it.
struct DescriptorReserve: ~Copyable, Sendable {
    private static let count = 8
    private let descriptors: [Int32]

    /// Throws `unavailable` when the process may not have so many (`ulimit -n`).
    init() throws(StoreError) {
        var descriptors: [Int32] = []
        for _ in 0..<Self.count {
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let number = errno
                for descriptor in descriptors { close(descriptor) }
                throw StoreError(
                    .unavailable, "can't open enough files to store the server's response",
                    hint: "raise the limit on open files (`ulimit -n`)", platform: .errno(number))
            }
            descriptors.append(descriptor)
        }
        self.descriptors = descriptors
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }

    /// Releases the descriptors for the next files to be opened.
    consuming func release() {}
}
