internal import LatchkeyCredentials

extension ContractCase {
    /// A second look at the same place.
    static let persistence: [ContractCase] = [
        ContractCase("what was saved is there when the place is opened again") { context in
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
            try context.expect(seen?.version == version, "the version is another one")
            try context.expect(seen?.metadata.label == "a label", "the label is another one")
            let listed = try await other.list(service: context.service, deadline: context.timeout).all()
            try context.expect(Set(listed.map(\.key)) == [key, binary], "\(listed.count) entries are listed, not two")
        },
        ContractCase("two openings of one place see each other's changes") { context in
            guard context.store.capabilities.isPersistent else { return }
            let key = try context.key("ada")
            let other = try await context.open()
            try await context.save("1", key)
            try await context.expect(key, holds: [0x31], in: other, "in the second")
            let version = try await context.save("2", key, in: other)
            try await context.expect(key, holds: [0x32], "in the first")
            try await context.save("3", key, options: SaveOptions(condition: .matches(version)))
            try await context.expect(.conflict, from: "the second's save") { () async throws(StoreError) in
                try await context.save("4", key, options: SaveOptions(condition: .matches(version)), in: other)
            }
            try await other.delete(key, condition: .none, deadline: context.timeout)
            try await context.expectAbsent(key)
        },
        ContractCase("two openings of one place that write at once lose nothing") { context in
            guard context.store.capabilities.isPersistent else { return }
            let stores = [context.store, try await context.open(), try await context.open()]
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
