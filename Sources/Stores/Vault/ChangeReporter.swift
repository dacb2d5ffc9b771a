internal import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

/// Tells listeners that a vault was changed, by this process or another.
///
/// It says that something changed, not what: names are sealed, and whoever wants to know reads.
final class ChangeReporter: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<CredentialChange>.Continuation] = [:]
        var nextNumber: UInt64 = 0
        var generation: UInt64 = 0
        var watch: (any ChangeWatch)?
    }

    private let state = Mutex(State())

    deinit {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners.values { listener.finish() }
    }

    /// Throws what `VaultPlace.watch` throws, and what a read throws.
    func listen(to vault: VaultStore, deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        guard let place = vault.place else {
            throw StoreError(.unsupported, "no other process has this vault's table")
        }
        // The watch first, so that no change falls between the two.
        if state.withLock({ $0.watch == nil }) {
            let watch = try await WorkThread().run(until: deadline) { (cancellation) throws(StoreError) in
                try place.watch(cancellation) { [weak self, weak vault] in
                    if let vault { self?.look(at: vault) }
                }
            }
            state.withLock { $0.watch = watch }
        }
        let generation = try await vault.waiting(until: deadline) { (view, state) throws(StoreError) in
            // A view begins with the first look into it.
            _ = try view.record(Manifest.recordName)
            return state.manifest.generation
        }
        let (stream, continuation) = AsyncStream.makeStream(
            of: CredentialChange.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = continuation
            state.generation = max(state.generation, generation)
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in
                state.listeners[number] = nil
                if state.listeners.isEmpty { state.watch = nil }
            }
        }
        return stream
    }

    /// On the watch's thread: a write is seen before its commit, so this waits for the writer to let go.
    private func look(at vault: VaultStore) {
        let cancellation = Cancellation(.after(.seconds(30)))
        let found = try? cancellation.retry { () throws(StoreError) in try vault.generation() }
        let listeners = state.withLock { state -> [AsyncStream<CredentialChange>.Continuation] in
            // A vault that can't be read any more is a change too.
            if let found {
                guard found > state.generation else { return [] }
                state.generation = found
            }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(CredentialChange(kind: .unknown, key: nil)) }
    }
}
