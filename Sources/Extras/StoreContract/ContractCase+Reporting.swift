internal import LatchkeyCredentials

extension ContractCase {
    /// Changes, and what a store says that it can't do.
    static let reporting: [ContractCase] = [
        ContractCase("saves and deletes are reported, or the store says that it can't") { context in
            guard context.store.capabilities.reportsChanges else {
                try await context.expect(.unsupported, from: "asking for changes") { () async throws(StoreError) in
                    _ = try await context.store.changes(deadline: context.timeout)
                }
                return
            }
            let key = try context.key("ada")
            let changes = try await context.store.changes(deadline: context.timeout)
            let writer = context.store.capabilities.isPersistent ? try await context.open() : context.store
            for (kind, step) in [(CredentialChange.Kind.saved, 1), (.saved, 2), (.deleted, 3)] {
                if kind == .saved {
                    try await context.save([UInt8(step)], key, in: writer)
                } else {
                    try await writer.delete(key, condition: .none, deadline: context.timeout)
                }
                try await context.expect(kind, of: key, in: changes, step: step)
            }
        },
        ContractCase("every listener hears of a change") { context in
            guard context.store.capabilities.reportsChanges else { return }
            let key = try context.key("ada")
            let first = try await context.store.changes(deadline: context.timeout)
            let second = try await context.store.changes(deadline: context.timeout)
            try await context.save("1", key)
            try await context.expect(.saved, of: key, in: first, step: 1)
            try await context.expect(.saved, of: key, in: second, step: 1)
        },
        ContractCase("a store that can't be locked says so") { context in
            // A store that can is tried by its own tests: here the lock would shut the others out.
            guard !context.store.capabilities.canLock else { return }
            try await context.expect(.unsupported, from: "locking") { () async throws(StoreError) in
                try await context.store.lock(deadline: context.timeout)
            }
            try await context.expect(.unsupported, from: "unlocking") { () async throws(StoreError) in
                try await context.store.unlock(deadline: context.timeout)
            }
        },
    ]
}

extension ContractContext {
    /// Waits for this change, or for word that anything may have changed.
    fileprivate func expect(
        _ kind: CredentialChange.Kind, of key: CredentialKey, in changes: AsyncStream<CredentialChange>, step: Int
    ) async throws {
        let heard = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await change in changes
                where (change.key == key || change.key == nil) && (change.kind == kind || change.kind == .unknown) {
                    return true
                }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(30))
                return false
            }
            let heard = await group.next() ?? false
            group.cancelAll()
            return heard
        }
        try expect(heard, "change \(step) was not reported")
    }
}
