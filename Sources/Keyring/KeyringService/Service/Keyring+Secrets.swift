internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets

/// GetSecrets while it is being done: of many items it takes seconds.
///
/// Only the worker uses it.
final class SecretsCall: @unchecked Sendable {
    // Sendable: it goes from the worker through its queue to the worker.
    let call: BusCall
    fileprivate let session: ClientSession
    fileprivate var paths: ArraySlice<String>
    fileprivate var entries: [BusValue] = []
    fileprivate var byteCount = 0

    fileprivate init(_ call: BusCall, _ session: ClientSession) {
        self.call = call
        self.session = session
        paths = call.arguments[0].texts[...]
    }
}

/// The secrets of many items, a few hundred at a time: other clients have their turns in between.
extension Keyring {
    /// How many items one call may want, and how many bytes of secrets.
    private static let maximumPathCount = 20_000
    private static let maximumSecretsByteCount = 64 << 20
    /// What is read in one turn: some 20 ms.
    private static let turnCount = 100
    private static let turnByteCount = 4 << 20

    func secrets(_ call: BusCall) async throws(BusFault) -> BusValue? {
        let session = try session(call.arguments[1])
        let secrets = SecretsCall(call, session)
        guard secrets.paths.count <= Self.maximumPathCount else {
            throw BusFault(.limitsExceeded, "these are too many items")
        }
        return try await goOn(with: secrets)
    }

    /// Returns `nil` where there is more to do, which is in the queue then.
    func goOn(with secrets: SecretsCall) async throws(BusFault) -> BusValue? {
        // Whoever has left, or closed the session, waits for nothing.
        guard sessions[secrets.session.path] != nil else { throw .noSession }
        let limit = secrets.byteCount + Self.turnByteCount
        for _ in 0..<Self.turnCount {
            guard secrets.byteCount < limit, let path = secrets.paths.popFirst() else { break }
            // What is locked or isn't there is left out: the others are worth having.
            guard case .item(let name, let id) = KeyringPath(path), let name = try? await collection(name),
                let store = try? await openStore(of: name)
            else { continue }
            switch try await secret(of: id, in: name, store) {
            case .none: continue
            case .some(let secret):
                secrets.byteCount += secret.secret.byteCount
                guard secrets.byteCount <= Self.maximumSecretsByteCount else {
                    throw BusFault(.limitsExceeded, "the secrets are larger than a message may be")
                }
                secrets.entries.append(.entry(.path(path), try secrets.session.sealed(secret)))
            }
        }
        guard secrets.paths.isEmpty else {
            queue.putBack(.rest(secrets), of: sender)
            return nil
        }
        return .tuple([.array(secrets.entries, of: "{o(oayays)}")])
    }
}
