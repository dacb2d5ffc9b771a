internal import Glibc
internal import LatchkeyLog

/// Exclusive access to one key of one store, among all Latchkey processes of this user, or of all hosts that share the
/// store.
///
/// On one machine it is an open-file-description lock (fcntl(2), F_OFD_SETLK) on one byte of a file, so that the kernel
/// frees it when the holder dies. The lease ends when the value does; the file stays.
package struct Lease: ~Copyable, Sendable {
    private enum Kind {
        case file(descriptor: Int32)
        case own(any HeldLease)
    }
    private let kind: Kind

    init(descriptor: Int32) {
        kind = .file(descriptor: descriptor)
    }

    /// A store's own.
    package init(_ held: any HeldLease) {
        kind = .own(held)
    }

    deinit {
        switch kind {
        case .file(let descriptor): close(descriptor)
        case .own(let held): held.release()
        }
    }

    /// Ends the lease now rather than at the end of its scope.
    package consuming func release() {}
}

/// A lease of a store that has leases of its own.
package protocol HeldLease: Sendable {
    /// Called once. It doesn't wait for what may take long.
    func release()
}

/// Gives out the leases of a store that has leases of its own, such as one that several hosts share.
package protocol LeaseSource: AnyObject, Sendable {
    /// Waits until nobody else holds the key, and takes it. Throws as `LeaseDirectory.acquire` does.
    func acquire(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> Lease
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
