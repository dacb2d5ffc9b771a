internal import LatchkeyCredentials

extension ContractCase {
    /// Many tasks at once.
    static let concurrency: [ContractCase] = [
        ContractCase("tasks that write and read one key at once see whole secrets alone") { context in
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
                                throw context.fail("a reader found nothing")
                            }
                            guard let first = seen.bytes.first, seen.bytes == secret(Int(first)) else {
                                throw context.fail("a reader got a torn secret of \(seen.bytes.count) bytes")
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
            for round in 0..<context.times(3) {
                let key = try context.key("once \(round)")
                try await context.save("x", key)
                let found = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            try await context.store.delete(key, condition: .none, deadline: context.timeout)
                        }
                    }
                    var found = 0
                    for try await one in group where one { found += 1 }
                    return found
                }
                try context.expect(found == 1, "\(found) tasks say that they deleted it")
            }
        },
    ]
}
