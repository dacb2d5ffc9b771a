internal import Glibc
internal import LatchkeyLog

/// Exclusive access to one key of one store, among all Latchkey processes of this user.
///
/// It is an open-file-description lock (fcntl(2), F_OFD_SETLK) on one byte of a file, so that the kernel frees it when
/// the holder dies. The lease ends when the value does; the file stays.
package struct Lease: ~Copyable, Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Ends the lease now rather than at the end of its scope.
    package consuming func release() {}
}

extension CredentialStore {
    /// Returns exclusive access to a key among Latchkey's processes, for read-change-write such as a token refresh.
    ///
    /// Throws `busy` when the deadline passes, `cancelled`, or `unavailable` when the lease's file can't be used.
    ///
    /// - Parameter directory: for a store that has no place of its own (see `leases(in:deadline:)`).
    package func exclusiveAccess(
        to key: CredentialKey, in directory: LeaseDirectory, deadline: Deadline
    ) async throws(StoreError) -> Lease {
        try await leases(in: directory, deadline: deadline).acquire(key, of: identity, deadline: deadline)
    }
}
