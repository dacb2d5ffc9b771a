internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySystem

extension KeyringCollection {
    /// Unlocks the collection when it is locked, and returns whether it was.
    func unlockIfLocked(
        _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        guard try await isLocked(session, interruption) else { return false }
        try await unlock(paths: [ownPath(session, interruption)], session, interruption)
        return true
    }

    /// Unlocks the collection, or those of the items that are locked apart from it, and returns whether there was
    /// anything to unlock: their attributes may only have become readable.
    func unlock(
        _ items: [KeyringItem], _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        let locked = items.filter(\.isLocked).map(\.path)
        if locked.isEmpty { return false }
        if try await unlockIfLocked(session, interruption) { return true }
        try await unlock(paths: locked, session, interruption)
        return true
    }

    func lock(_ deadline: Deadline) async throws(StoreError) {
        let interruption = try Interruption(deadline)
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            let own = try await ownPath(session, interruption)
            let reply = try await session.call(.lock, on: BusName.service, [.paths([own])], interruption)
            try await finish(prompt: reply[1].text, session, interruption)
            guard try await isLocked(session, interruption) else { throw .store(.keyringStaysOpen) }
        }
    }

    func unlock(_ deadline: Deadline) async throws(StoreError) {
        let interruption = try Interruption(deadline)
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            _ = try await unlockIfLocked(session, interruption)
        }
    }

    private func unlock(
        paths: [String], _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) {
        guard configuration.mayPrompt else {
            return try await Unlocking.unlock(paths, session, mayPrompt: false, interruption)
        }
        try await Unlocking.joined(paths, session, interruption)
    }

    /// Shows the prompt of another operation than unlocking, if the service asks for one.
    ///
    /// - Parameter forbidden: what to throw when questions are forbidden.
    func finish(
        prompt path: String, forbidden: StoreError = .keyringLocked, _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) {
        guard path != BusName.nothing else { return }
        guard configuration.mayPrompt else { throw .store(forbidden) }
        try await KeyringPrompt(path: path, session: session).show(interruption)
    }
}

/// Unlocking that is under way. All who need the same thing unlocked wait for one prompt. It stays on the screen
/// when the last of them has given up; who comes later asks anew, because a service may have lost it.
@GLibThread final class Unlocking {
    private static var underWay: [[String]: Unlocking] = [:]

    private let interruption: Interruption
    private var waiters: [Pending<Result<Void, KeyringFailure>>] = []

    private init(_ first: Interruption) {
        interruption = Interruption(.after(.seconds(1_000_000)), within: first)
    }

    /// Unlocks, or joins those who do.
    static func joined(
        _ paths: [String], _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) {
        let place = [session.owner] + paths
        let unlocking = underWay[place] ?? begin(place, paths, session, interruption)
        let end = Pending<Result<Void, KeyringFailure>>()
        unlocking.waiters.append(end)
        let number = interruption.trigger.onPull { end.complete(.failure(.interrupted)) }
        defer { interruption.trigger.forget(number) }
        let result = await interruption.trigger.wait(end)
        unlocking.waiters.removeAll { $0 === end }
        if unlocking.waiters.isEmpty {
            if underWay[place] === unlocking { underWay[place] = nil }
            unlocking.interruption.trigger.pull()
        }
        try result.get()
    }

    private static func begin(
        _ place: [String], _ paths: [String], _ session: KeyringSession, _ interruption: Interruption
    ) -> Unlocking {
        let unlocking = Unlocking(interruption)
        underWay[place] = unlocking
        Task {
            let result = await Result<Void, KeyringFailure>(
                awaiting: try await unlock(paths, session, mayPrompt: true, unlocking.interruption))
            if underWay[place] === unlocking { underWay[place] = nil }
            for waiter in unlocking.waiters { waiter.complete(result) }
        }
        return unlocking
    }

    static func unlock(
        _ paths: [String], _ session: KeyringSession, mayPrompt: Bool, _ interruption: Interruption
    ) async throws(KeyringFailure) {
        let reply = try await session.call(.unlock, on: BusName.service, [.paths(paths)], interruption)
        let path = reply[1].text
        if path == BusName.nothing {
            let unlocked = Set(reply[0].texts)
            if !paths.allSatisfy(unlocked.contains) { throw .store(.keyringStaysLocked) }
            return
        }
        guard mayPrompt else { throw .store(.keyringLocked) }
        try await KeyringPrompt(path: path, session: session).show(interruption)
    }
}
