internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

extension ContractCase {
    /// Cancellation and deadlines.
    static let ending: [ContractCase] = [
        ContractCase("an operation whose deadline has passed throws timed-out and changes nothing") { context in
            let key = try context.key("ada")
            try await context.save("old", key)
            let passed = Deadline(.now - .seconds(1))
            for operation in ContractOperation.allCases {
                try await context.expect(.timedOut, from: operation.rawValue) { () async throws(StoreError) in
                    try await context.run(operation, on: key, deadline: passed)
                }
            }
            try await context.expect(key, holds: Array("old".utf8))
        },
        ContractCase("an operation of a task that was cancelled throws cancelled and changes nothing") { context in
            let key = try context.key("ada")
            try await context.save("old", key)
            for operation in ContractOperation.allCases {
                let outcome = await Task {
                    // Not before the cancellation below, which the sleep notices.
                    try? await Task.sleep(for: .seconds(60))
                    return await context.outcome(of: operation, on: key)
                }.cancelledValue
                try context.expect(
                    outcome?.code == .cancelled,
                    "\(operation.rawValue) " + (outcome.map { "threw \($0)" } ?? "did its work"))
            }
            try await context.expect(key, holds: Array("old".utf8))
        },
        ContractCase("a save cancelled at any moment leaves the old secret or the new one, whole") { context in
            let key = try context.key("ada")
            let old = [UInt8](repeating: 0x6F, count: 3000)
            let new = [UInt8](repeating: 0x6E, count: 5000)
            for round in 0..<context.times(20) {
                try await context.save(old, key)
                let started = SharedCount()
                try await withThrowingTaskGroup(of: StoreError?.self) { group in
                    group.addTask {
                        started.add(1)
                        return await failure(StoreError.self, awaiting: try await context.save(new, key))
                    }
                    while started.value == 0 { await Task.yield() }
                    // A different moment each round: the more rounds, the further into the call.
                    for _ in 0..<round * round { await Task.yield() }
                    group.cancelAll()
                    let error = try await group.next() ?? nil
                    try context.expect(
                        error == nil || error?.code == .cancelled,
                        "the save threw \(error?.description ?? ""), not cancelled")
                    let seen = try await Task { try await context.read(key) }.value
                    if error == nil {
                        try context.expect(seen?.bytes == new, "the save returned, and its secret is not there")
                    } else {
                        // The cancellation may have come when the store had written already.
                        try context.expect(
                            seen?.bytes == old || seen?.bytes == new, "the secret is neither the old nor the new one")
                    }
                }
            }
        },
        ContractCase("a store works on after operations were cancelled or timed out") { context in
            let key = try context.key("ada")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        let deadline: Deadline = number.isMultiple(of: 2) ? .after(.zero) : context.timeout
                        _ = try await nilIf(
                            { (error: StoreError) in error.code == .cancelled || error.code == .timedOut },
                            awaiting: await context.run(.save, on: key, deadline: deadline))
                    }
                }
                group.cancelAll()
                try await group.waitForAll()
            }
            try await context.save("after", key)
            try await context.expect(key, holds: Array("after".utf8))
        },
    ]
}

enum ContractOperation: String, CaseIterable, Sendable {
    case save = "a save"
    case saveOnCondition = "a save on condition"
    case read = "a read"
    case delete = "a delete"
    case list = "a listing"
}

extension ContractContext {
    /// Runs one operation that would succeed, and change something where it can.
    func run(_ operation: ContractOperation, on key: CredentialKey, deadline: Deadline) async throws(StoreError) {
        let secret = Secret<Password>(copying: Array("new".utf8).span)
        switch operation {
        case .save: try await store.save(secret, for: key, options: SaveOptions(), deadline: deadline)
        case .saveOnCondition:
            let fresh = try? CredentialKey(service: key.service, account: key.account + " fresh")
            try await store.save(
                secret, for: fresh ?? key, options: SaveOptions(condition: .absent), deadline: deadline)
        case .read: _ = try await store.read(key, as: Password.self, deadline: deadline)
        case .delete: try await store.delete(key, condition: .none, deadline: deadline)
        case .list: _ = try await store.page(service: key.service, after: nil, deadline: deadline)
        }
    }

    fileprivate func outcome(of operation: ContractOperation, on key: CredentialKey) async -> StoreError? {
        await failure(StoreError.self, awaiting: try await run(operation, on: key, deadline: timeout))
    }
}

extension Task where Failure == Never {
    /// Cancels the task and waits for it.
    fileprivate var cancelledValue: Success {
        get async {
            cancel()
            return await value
        }
    }
}
