public import Credentials
internal import RedactedLog

/// What a rotation of the data key did.
public struct VaultRotation: Sendable, Hashable {
    /// How many credentials this call resealed. What others saved meanwhile was sealed under the new key by them.
    public let resealedCount: Int
    /// Whether an earlier rotation had been cut off, and this call finished it instead of beginning one.
    public let wasResumed: Bool
}

extension VaultStore {
    /// Makes a new data key and reseals every credential under it; then the old key is gone from the file.
    ///
    /// The slots stay as they are: nobody's passphrase is needed. It works in batches, each durable, and others read
    /// and write meanwhile. A call that was cut off (killed, cancelled, out of time, disk full) leaves a vault that is
    /// whole and works; the next call goes on where it ended. Several calls at once share the work.
    ///
    /// - Parameter progress: told after each batch how far it is, from 0 to 1.
    ///
    /// Throws `corrupted` when a credential can't be opened; then the vault keeps both keys.
    public func rotateDataKey(
        deadline: Deadline = .after(.seconds(86_400)), progress: @Sendable (Double) -> Void = { _ in }
    ) async throws(StoreError) -> VaultRotation {
        var rotation = try await rows.beginRotation(deadline: deadline)
        while true {
            rotation = try await rows.resealBatch(of: rotation, deadline: deadline)
            progress(rotation.fraction)
            if rotation.isFinished { break }
            // Writers of other processes poll; without a gap they would never find the vault free.
            do {
                try await Task.sleep(for: .milliseconds(10))
            } catch {
                throw .cancelled
            }
        }
        return VaultRotation(resealedCount: rotation.resealedCount, wasResumed: rotation.wasResumed)
    }
}
