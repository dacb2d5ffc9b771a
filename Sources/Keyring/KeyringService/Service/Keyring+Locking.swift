internal import LatchkeyCredentials
internal import LatchkeyDBus

/// Lock and Unlock.
extension Keyring {
    /// The collection of an object that can be locked. `nil` for one that isn't there, which clients may ask for.
    private func lockable(_ path: String) async throws(BusFault) -> String? {
        switch KeyringPath(path) {
        case .collection(let name), .item(let name, _): try await collection(name)
        default: nil
        }
    }

    /// Unlocks what can be unlocked without asking, and returns it under the paths that were asked for: go-keyring takes
    /// nothing else. The rest waits for a prompt.
    func unlock(_ call: BusCall) async throws(BusFault) -> BusValue {
        var done: [String] = []
        var waiting: [String] = []
        var names: Set<String> = []
        // First of all, so that the collections are known.
        let isOpen = (try? await openVaultWithoutAsking()) != nil
        for path in call[0].texts {
            guard isOpen else {
                // Which collections there are isn't known but of those that are always there.
                guard let object = KeyringPath(path) else { continue }
                switch object {
                case .collection(let name), .item(let name, _):
                    let known = try? await collection(name)
                    if let known, isInMemory(known) {
                        setUnlocked(known)
                        done.append(path)
                    } else {
                        waiting.append(path)
                        if let known { names.insert(known) }
                    }
                default: continue
                }
                continue
            }
            guard let name = try await lockable(path) else { continue }
            if isLocked(name), configuration.isConfirmed(.unlock(collection: name)) {
                waiting.append(path)
                names.insert(name)
            } else {
                setUnlocked(name)
                done.append(path)
            }
        }
        let prompt = waiting.isEmpty ? "/" : try addPrompt(.unlock(paths: waiting, collections: names))
        return .tuple([.paths(done), .path(prompt)])
    }

    func setUnlocked(_ name: String) {
        guard lockedNames.remove(name) != nil, !isLocked(name) else { return }
        announceLock(name)
    }

    func lock(_ call: BusCall) async throws(BusFault) -> BusValue {
        var done: [String] = []
        var waiting: [String] = []
        var names: Set<String> = []
        for path in call[0].texts {
            guard let name = try? await lockable(path) else { continue }
            if !isLocked(name), configuration.isConfirmed(.lock(collection: name)) {
                waiting.append(path)
                names.insert(name)
            } else {
                await setLocked(name)
                done.append(path)
            }
        }
        let prompt = waiting.isEmpty ? "/" : try addPrompt(.lock(paths: waiting, collections: names))
        return .tuple([.paths(done), .path(prompt)])
    }

    func setLocked(_ name: String) async {
        let wasLocked = isLocked(name)
        lockedNames.insert(name)
        if !wasLocked { announceLock(name) }
        guard vault != nil, vaultCollections.allSatisfy({ lockedNames.contains($0.name) }) else { return }
        if await configuration.source.close() {
            wasClosedByClient = true
            leaveVault()
        }
    }
}
