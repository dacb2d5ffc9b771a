internal import LatchkeyCredentials
internal import LatchkeyLog
internal import Synchronization

extension ContractCase {
    /// A second look at the same place.
    static let persistence: [ContractCase] = [
        ContractCase("saved credentials are there after reopening the store") { context in
            guard context.store.capabilities.isPersistent else { return }
            let key = try context.key("ada")
            let binary = try context.key("binary", kind: .privateKey)
            let all = (0...255).map { UInt8($0) }
            let version = try await context.save("kept", key, options: SaveOptions(label: "a label"))
            try await context.save(all, binary)
            let other = try await context.open()
            try await context.expect(key, holds: Array("kept".utf8), in: other)
            try await context.expect(binary, holds: all, in: other)
            let seen = try await context.read(key, in: other)
            try context.expect(seen?.version == version, "the version differs")
            try context.expect(seen?.metadata.label == "a label", "the label differs")
            let listed = try await other.list(service: context.service, deadline: context.timeout).all()
            try context.expect(Set(listed.map(\.key)) == [key, binary], "\(listed.count) entries are listed, not two")
        },
        ContractCase("two openings of one place see each other's changes") { context in
            guard context.store.capabilities.isPersistent else { return }
            let key = try context.key("ada")
            let other = try await context.open()
            func expectListed(_ keys: [CredentialKey], in store: any CredentialStore) async throws {
                let listed = try await store.list(service: context.service, deadline: context.timeout).all()
                try context.expect(listed.map(\.key) == keys, "\(listed.count) entries are listed, not \(keys.count)")
            }
            for store in [context.store, other] { try await expectListed([], in: store) }
            try await context.save("1", key)
            try await context.expect(key, holds: [0x31], in: other, "in the second")
            for store in [context.store, other] { try await expectListed([key], in: store) }
            let version = try await context.save("2", key, in: other)
            try await context.expect(key, holds: [0x32], "in the first")
            try await context.save("3", key, options: SaveOptions(condition: .matches(version)))
            try await context.expect(.conflict, from: "the second's save") { () async throws(StoreError) in
                try await context.save("4", key, options: SaveOptions(condition: .matches(version)), in: other)
            }
            try await other.delete(key, condition: .none, deadline: context.timeout)
            try await context.expectAbsent(key)
            for store in [context.store, other] { try await expectListed([], in: store) }
        },
        ContractCase("two openings of one place that write at once lose nothing") { context in
            guard context.store.capabilities.isPersistent else { return }
            let stores = try await context.openings()
            let count = context.times(15)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, store) in stores.enumerated() {
                    group.addTask {
                        for round in 0..<count {
                            try await context.save([UInt8(number)], try context.key("\(number)/\(round)"), in: store)
                        }
                    }
                }
                try await group.waitForAll()
            }
            for store in stores {
                let listed = try await store.list(service: context.service, deadline: context.timeout).all()
                try context.expect(
                    Set(listed.map(\.key)).count == count * 3, "\(listed.count) entries are there of \(count * 3)")
            }
        },
    ]
}

extension ContractCase {
    /// Exclusive access to a key.
    static let leases: [ContractCase] = [
        ContractCase("a lease lets one task at a time change what it read") { context in
            let key = try context.key("counter")
            try await context.save([0, 0], key)
            let inside = Box(Atomic(0))
            let count = context.times(20)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let lease = try await context.lease(key)
                        let others = inside.value.add(1, ordering: .sequentiallyConsistent).oldValue
                        try context.expect(others == 0, "\(others) other tasks hold the lease")
                        guard let seen = try await context.read(key), seen.bytes.count == 2 else {
                            throw ContractViolation("a saved credential is missing")
                        }
                        let number = Int(seen.bytes[0]) << 8 + Int(seen.bytes[1]) + 1
                        try await context.save([UInt8(number >> 8), UInt8(number & 255)], key)
                        inside.value.subtract(1, ordering: .sequentiallyConsistent)
                        lease.release()
                    }
                }
                try await group.waitForAll()
            }
            try await context.expect(key, holds: [UInt8(count >> 8), UInt8(count & 255)])
        },
        ContractCase("a lease is freed when its value dies") { context in
            let key = try context.key("ada")
            for _ in 0..<3 {
                let lease = try await context.lease(key)
                _ = consume lease
            }
        },
        ContractCase("a lease in use is busy at the deadline; the lease of another key is free") { context in
            let key = try context.key("ada")
            let lease = try await context.lease(key)
            // A store that asks others where its leases are may be out of time before it gets to wait for this one.
            try await context.expect(.busy, or: .timedOut, from: "a second lease") { () async throws(StoreError) in
                _ = try await context.store.exclusiveAccess(
                    to: key, in: context.leases, deadline: .after(.milliseconds(20)))
            }
            let other = try await context.lease(try context.key("bob"))
            other.release()
            lease.release()
            let again = try await context.lease(key)
            again.release()
        },
        ContractCase("waiting for a lease ends with the task") { context in
            let key = try context.key("ada")
            let lease = try await context.lease(key)
            let waiting = Task { () async -> StoreError.Code? in
                await failure(StoreError.self, awaiting: try await context.lease(key))?.code
            }
            waiting.cancel()
            let code = await waiting.value
            try context.expect(code == .cancelled, "waiting ended with \(code?.name.description ?? "the lease")")
            lease.release()
        },
    ]
}

extension ContractCase {
    /// Cancellation and deadlines.
    static let ending: [ContractCase] = [
        ContractCase("an operation whose deadline has passed throws timed-out and changes nothing") { context in
            let key = try context.key("ada")
            try await context.save(context.canary + " old", key)
            let old = try await context.read(key)
            for operation in ContractOperation.allCases {
                try await context.expect(.timedOut, from: operation.rawValue) { () async throws(StoreError) in
                    try await context.run(operation, on: key, deadline: context.passed)
                }
            }
            try await context.expect(key, isStill: old)
            try await context.expectAbsent(try ContractOperation.freshKey(beside: key))
        },
        ContractCase("an operation of a task that was cancelled throws cancelled and changes nothing") { context in
            let key = try context.key("ada")
            try await context.save(context.canary + " old", key)
            let old = try await context.read(key)
            for operation in ContractOperation.allCases {
                try await context.expectCancelled(operation.rawValue) { () async throws(StoreError) in
                    try await context.run(operation, on: key, deadline: context.timeout)
                }
            }
            try await context.expect(key, isStill: old)
            try await context.expectAbsent(try ContractOperation.freshKey(beside: key))
        },
        ContractCase("a save cancelled at any moment leaves the old secret or the new one, whole") { context in
            let key = try context.key("ada")
            let old = [UInt8](repeating: 0x6F, count: 3000)
            let new = [UInt8](repeating: 0x6E, count: 5000)
            for round in 0..<context.times(20) {
                try await context.save(old, key)
                let started = Box(Atomic(0))
                try await withThrowingTaskGroup(of: StoreError?.self) { group in
                    group.addTask {
                        started.value.add(1, ordering: .sequentiallyConsistent)
                        return await failure(StoreError.self, awaiting: try await context.save(new, key))
                    }
                    while started.value.load(ordering: .sequentiallyConsistent) == 0 { await Task.yield() }
                    // A different moment each round: the more rounds, the further into the call.
                    for _ in 0..<round * round { await Task.yield() }
                    group.cancelAll()
                    let error = try await group.next() ?? nil
                    try context.expect(
                        error == nil || error?.code == .cancelled,
                        "the save threw \(error?.description ?? ""), not cancelled")
                    let seen = try await Task { try await context.read(key) }.value
                    if error == nil {
                        try context.expect(seen?.bytes == new, "the save returned, but its secret is missing")
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

    /// The key that a save on condition creates.
    static func freshKey(beside key: CredentialKey) throws -> CredentialKey {
        try CredentialKey(service: key.service, account: key.account + " fresh")
    }
}

extension ContractContext {
    func lease(_ key: CredentialKey) async throws(StoreError) -> Lease {
        try await store.exclusiveAccess(to: key, in: leases, deadline: timeout)
    }

    /// Runs one operation that would succeed, and change something where it can.
    func run(_ operation: ContractOperation, on key: CredentialKey, deadline: Deadline) async throws(StoreError) {
        let secret = Secret<Password>(copying: Array((canary + " new").utf8).span)
        switch operation {
        case .save: try await store.save(secret, for: key, options: SaveOptions(), deadline: deadline)
        case .saveOnCondition:
            let fresh = (try? ContractOperation.freshKey(beside: key)) ?? key
            try await store.save(secret, for: fresh, options: SaveOptions(condition: .absent), deadline: deadline)
        case .read: _ = try await store.read(key, as: Password.self, deadline: deadline)
        case .delete: try await store.delete(key, condition: .none, deadline: deadline)
        case .list: _ = try await store.page(service: key.service, after: nil, deadline: deadline)
        }
    }
}
