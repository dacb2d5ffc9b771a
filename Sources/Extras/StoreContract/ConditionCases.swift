internal import LatchkeyCredentials

extension ContractCase {
    /// Compare-and-set.
    static let conditions: [ContractCase] = [
        ContractCase("a save on condition of absence creates, and never replaces") { context in
            let key = try context.key("ada")
            try await context.save("first", key, options: SaveOptions(label: "first", condition: .absent))
            let first = try await context.read(key)
            try await context.expect(.conflict, from: "the second save") { () async throws(StoreError) in
                try await context.save("second", key, options: SaveOptions(label: "second", condition: .absent))
            }
            try await context.expect(key, isStill: first)
            try await context.expect(key, holds: Array("first".utf8))
        },
        ContractCase("a save on condition of a version replaces that version alone") { context in
            let key = try context.key("ada")
            let first = try await context.save("first", key)
            let second = try await context.save("second", key, options: SaveOptions(condition: .matches(first)))
            try context.expect(first != second, "both states have the same version")
            try await context.expect(.conflict, from: "a save on condition of the old version") {
                () async throws(StoreError) in
                try await context.save("third", key, options: SaveOptions(condition: .matches(first)))
            }
            try await context.expect(key, holds: Array("second".utf8))
            let third = try await context.save("third", key, options: SaveOptions(condition: .matches(second)))
            try await context.expect(key, holds: Array("third".utf8))
            func expectConflict(_ text: String, _ version: CredentialVersion) async throws {
                try await context.expect(.conflict, from: "a save to or from an empty secret") {
                    () async throws(StoreError) in
                    try await context.save(text, key, options: SaveOptions(condition: .matches(version)))
                }
            }
            try await expectConflict("", second)
            try await context.save("", key, options: SaveOptions(condition: .matches(third)))
            try await expectConflict("fourth", third)
            try await context.expect(key, holds: [])
        },
        ContractCase("a save on condition of a deleted version neither creates nor replaces") { context in
            let key = try context.key("ada")
            let version = try await context.save("first", key)
            try await context.store.delete(key, condition: .none, deadline: context.timeout)
            try await context.expect(.conflict, from: "the save") { () async throws(StoreError) in
                try await context.save("second", key, options: SaveOptions(condition: .matches(version)))
            }
            try await context.expectAbsent(key)
            try await context.save("third", key)
            try await context.expect(.conflict, from: "the save over a new one") { () async throws(StoreError) in
                try await context.save("second", key, options: SaveOptions(condition: .matches(version)))
            }
            try await context.expect(key, holds: Array("third".utf8))
        },
        ContractCase("another key's version never matches") { context in
            let key = try context.key("ada")
            try await context.save("same", key, options: SaveOptions(label: "label"))
            let other = try await context.save("same", try context.key("bob"), options: SaveOptions(label: "label"))
            try await context.expect(.conflict, from: "the save") { () async throws(StoreError) in
                try await context.save("second", key, options: SaveOptions(condition: .matches(other)))
            }
            try await context.expect(key, holds: Array("same".utf8))
        },
        ContractCase("a delete on condition of a version deletes that version alone; of absence, none") { context in
            let key = try context.key("ada")
            let first = try await context.save("first", key)
            let second = try await context.save("second", key)
            for condition in [WriteCondition.matches(first), .absent] {
                try await context.expect(.conflict, from: "a delete on condition of the old version or absence") {
                    () async throws(StoreError) in
                    try await context.store.delete(key, condition: condition, deadline: context.timeout)
                }
                try await context.expect(key, holds: Array("second".utf8))
            }
            let deleted = try await context.store.delete(
                key, condition: .matches(second), deadline: context.timeout)
            try context.expect(deleted, "the delete reported a missing credential")
            try await context.expectAbsent(key)
            try await context.expect(.conflict, from: "a conditional delete of a deleted credential") {
                () async throws(StoreError) in
                try await context.store.delete(key, condition: .matches(second), deadline: context.timeout)
            }
        },
        ContractCase("of twenty tasks that change one version at once, exactly one wins each round") { context in
            let key = try context.key("counter")
            let stores = try await context.openings()
            var version = try await context.save("round 0", key)
            for round in 1...context.times(5) {
                let winners = try await context.race(stores, on: key, condition: .matches(version), round: round)
                try context.expect(winners.count == 1, "\(winners.count) tasks won round \(round)")
                guard let seen = try await context.read(key) else {
                    throw ContractViolation("the credential doesn't exist")
                }
                try context.expect(
                    seen.version == winners[0].version && seen.bytes == Array(winners[0].text.utf8),
                    "round \(round) left another secret than its winner's")
                version = seen.version
            }
        },
        ContractCase("of twenty tasks that create one credential at once, exactly one wins") { context in
            let stores = try await context.openings()
            for round in 1...context.times(3) {
                let key = try context.key("new \(round)")
                let winners = try await context.race(stores, on: key, condition: .absent, round: round)
                try context.expect(winners.count == 1, "\(winners.count) tasks created it")
                try await context.expect(key, holds: Array(winners[0].text.utf8))
            }
        },
    ]
}

extension ContractContext {
    struct Winner: Sendable {
        let text: String
        let version: CredentialVersion
    }

    /// Lets twenty tasks of these openings save at once on the same condition, under the lease where the store needs
    /// it, and returns those that were let through.
    fileprivate func race(
        _ stores: [any CredentialStore], on key: CredentialKey, condition: WriteCondition, round: Int
    ) async throws -> [Winner] {
        try await withThrowingTaskGroup(of: Winner?.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let text = "round \(round), task \(number)"
                    let options = SaveOptions(condition: condition)
                    let store = stores[number % stores.count]
                    do throws(StoreError) {
                        if store.capabilities.hasAtomicConditions {
                            let version = try await save(text, key, options: options, in: store)
                            return Winner(text: text, version: version)
                        }
                        let lease = try await store.exclusiveAccess(to: key, in: leases, deadline: timeout)
                        let version = try await save(text, key, options: options, in: store)
                        lease.release()
                        return Winner(text: text, version: version)
                    } catch {
                        if error.code == .conflict { return nil }
                        throw error
                    }
                }
            }
            var winners: [Winner] = []
            for try await winner in group { if let winner { winners.append(winner) } }
            return winners
        }
    }
}

extension ContractCase {
    /// Many tasks at once.
    static let concurrency: [ContractCase] = [
        ContractCase("tasks that write and read one key at once only see whole secrets") { context in
            let key = try context.key("shared")
            // Every secret is one byte, many times: a torn one has two.
            func secret(_ number: Int) -> [UInt8] {
                [UInt8](repeating: UInt8(number), count: 100 + number * 997 % 5000)
            }
            try await context.save(secret(0), key)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...16 {
                    group.addTask {
                        for _ in 0..<context.times(4) { try await context.save(secret(number), key) }
                    }
                    group.addTask {
                        for _ in 0..<context.times(4) {
                            guard let seen = try await context.read(key) else {
                                throw ContractViolation("a reader found nothing")
                            }
                            guard let first = seen.bytes.first, seen.bytes == secret(Int(first)) else {
                                throw ContractViolation("a reader got a torn secret of \(seen.bytes.count) bytes")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let last = try await context.read(key)
            try context.expect(
                last.map { $0.bytes == secret(Int($0.bytes.first ?? 255)) } == true, "the last secret is torn")
            let entries = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(entries.count == 1, "\(entries.count) entries are left, not one")
        },
        ContractCase("tasks on many keys at once don't disturb each other") { context in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<context.times(64) {
                    group.addTask {
                        let key = try context.key("account \(number)")
                        try await context.save("first \(number)", key)
                        try await context.expect(key, holds: Array("first \(number)".utf8))
                        try await context.save("second \(number)", key)
                        try await context.expect(key, holds: Array("second \(number)".utf8))
                        if number.isMultiple(of: 2) {
                            try await context.store.delete(key, condition: .none, deadline: context.timeout)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let left = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(
                left.count == context.times(64) / 2, "\(left.count) credentials are left of \(context.times(64) / 2)")
        },
        ContractCase("tasks that delete one key at once: exactly one finds it") { context in
            let stores = try await context.openings()
            for round in 0..<context.times(3) {
                let key = try context.key("once \(round)")
                try await context.save("x", key)
                let found = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<8 {
                        let store = stores[number % stores.count]
                        group.addTask {
                            try await store.delete(key, condition: .none, deadline: context.timeout)
                        }
                    }
                    var found = 0
                    for try await one in group where one { found += 1 }
                    return found
                }
                try context.expect(found == 1, "\(found) tasks report that they deleted it")
            }
        },
    ]
}
