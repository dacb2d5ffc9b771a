internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySystem

/// Lets one task through at a time, in order of arrival. A waiting task can be interrupted.
@GLibThread final class AsyncMutex {
    private var isTaken = false
    private var waiting: [Pending<Bool>] = []

    /// Waits for the turn; `false` when it was interrupted before. Each `true` needs one `leave()`.
    func enter(_ interruption: CallInterruption) async -> Bool {
        if !isTaken {
            isTaken = true
            return true
        }
        let turn = Pending<Bool>()
        waiting.append(turn)
        let number = interruption.trigger.onPull { turn.complete(false) }
        defer { interruption.trigger.forget(number) }
        let granted = await interruption.trigger.wait(turn)
        if !granted { waiting.removeAll { $0 === turn } }
        return granted
    }

    func leave() {
        while !waiting.isEmpty {
            // The turn is handed over, unless that task was interrupted at the same time.
            if waiting.removeFirst().complete(true) { return }
        }
        isTaken = false
    }

    var isIdle: Bool { !isTaken }
}

/// One mutex for each key in use: changes of one credential by tasks of this process happen one after another, so
/// that a checked condition still holds when the write is sent. The mutex is the same for all collections, because a
/// collection may have several names.
@GLibThread final class KeyMutexes {
    static let shared = KeyMutexes()

    private var mutexes: [CredentialKey: AsyncMutex] = [:]

    func enter(_ key: CredentialKey, _ interruption: CallInterruption) async throws(KeyringFailure) {
        let mutex = mutexes[key] ?? AsyncMutex()
        mutexes[key] = mutex
        guard await mutex.enter(interruption) else { throw .interrupted }
    }

    func leave(_ key: CredentialKey) {
        guard let mutex = mutexes[key] else { return }
        mutex.leave()
        if mutex.isIdle { mutexes[key] = nil }
    }
}
