internal import LatchkeyCredentials
internal import LatchkeySystem

extension ContractCase {
    /// Exclusive access to a key.
    static let leases: [ContractCase] = [
        ContractCase("a lease lets one task at a time change what it read") { context in
            let key = try context.key("counter")
            try await context.save([0, 0], key)
            let inside = SharedCount()
            let count = context.times(20)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let lease = try await context.store.exclusiveAccess(
                            to: key, in: context.leases, deadline: context.timeout)
                        let others = inside.add(1) - 1
                        try context.expect(others == 0, "\(others) other tasks hold the lease")
                        guard let seen = try await context.read(key), seen.bytes.count == 2 else {
                            throw context.fail("what was saved is gone")
                        }
                        let number = Int(seen.bytes[0]) << 8 + Int(seen.bytes[1]) + 1
                        try await context.save([UInt8(number >> 8), UInt8(number & 255)], key)
                        inside.add(-1)
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
                let lease = try await context.store.exclusiveAccess(
                    to: key, in: context.leases, deadline: context.timeout)
                _ = consume lease
            }
        },
        ContractCase("a lease that is held is busy at the deadline, and another key's is free") { context in
            let key = try context.key("ada")
            let lease = try await context.store.exclusiveAccess(
                to: key, in: context.leases, deadline: context.timeout)
            // A store that asks others where its leases are may be out of time before it gets to wait for this one.
            try await context.expect(.busy, or: .timedOut, from: "a second lease") { () async throws(StoreError) in
                _ = try await context.store.exclusiveAccess(
                    to: key, in: context.leases, deadline: .after(.milliseconds(20)))
            }
            let other = try await context.store.exclusiveAccess(
                to: try context.key("bob"), in: context.leases, deadline: context.timeout)
            other.release()
            lease.release()
            let again = try await context.store.exclusiveAccess(
                to: key, in: context.leases, deadline: context.timeout)
            again.release()
        },
        ContractCase("waiting for a lease ends with the task") { context in
            let key = try context.key("ada")
            let lease = try await context.store.exclusiveAccess(
                to: key, in: context.leases, deadline: context.timeout)
            let waiting = Task { () async -> StoreError.Code? in
                await failure(
                    StoreError.self,
                    awaiting: try await context.store.exclusiveAccess(
                        to: key, in: context.leases, deadline: context.timeout))?.code
            }
            waiting.cancel()
            let code = await waiting.value
            try context.expect(code == .cancelled, "waiting ended with \(code?.name.description ?? "the lease")")
            lease.release()
        },
    ]
}
