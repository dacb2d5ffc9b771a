package import LatchkeyCredentials
internal import LatchkeySecrets

/// That a server has ended a session is remembered after its tokens were deleted, so that the person learns why they
/// are not signed in any more: an item without a secret in the session's place, until the next sign-in or sign-out.
extension SessionStore {
    /// A session that its server has ended.
    package struct EndedSession: Sendable, Hashable {
        package let account: String
        /// When that was noticed.
        package let noticed: UnixTime
    }

    /// What the item holds instead of a secret.
    private enum EndMark: SecretPurpose { static var name: StaticString { "mark of an ended session" } }

    /// Remembers that an account's session was ended.
    package func rememberEnd(of account: String, deadline: Deadline = .standard) async throws(StoreError) {
        let options = SaveOptions(label: "\(account) at \(provider) (ended by the server)", contentType: .text)
        let mark = Secret<EndMark>(copying: Array("ended".utf8).span)
        try await store.save(mark, for: try key(account, kind: .ended), options: options, deadline: deadline)
    }

    /// Returns whether it was remembered.
    @discardableResult
    package func forgetEnd(of account: String, deadline: Deadline = .standard) async throws(StoreError) -> Bool {
        try await store.delete(try key(account, kind: .ended), condition: .none, deadline: deadline)
    }

    /// Returns the sessions that were ended, in the order of their accounts.
    package func endedSessions(deadline: Deadline = .standard) async throws(StoreError) -> [EndedSession] {
        var ended: [EndedSession] = []
        var listing = store.list(service: service, deadline: deadline).makeAsyncIterator()
        while let entry = try await listing.next() {
            if entry.key.kind == .ended {
                ended.append(EndedSession(account: entry.key.account, noticed: entry.modified))
            }
        }
        return ended.sorted { $0.account < $1.account }
    }
}
