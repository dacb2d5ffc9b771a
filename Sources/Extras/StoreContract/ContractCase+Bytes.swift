internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

extension ContractCase {
    /// Secrets are any bytes.
    static let bytes: [ContractCase] = [
        ContractCase("an empty secret is kept, and is not absence") { context in
            let key = try context.key("empty")
            try await context.save([], key)
            try await context.expect(key, holds: [])
            try await context.save("filled", key)
            try await context.save([], key)
            try await context.expect(key, holds: [], "after a longer one")
        },
        ContractCase("a secret may hold every byte value, NUL included, anywhere") { context in
            let all = (0...255).map { UInt8($0) }
            let secrets: [[UInt8]] = [
                all, all.reversed(), [0], [0, 0, 0], [0, 65], [65, 0], [65, 0, 66], [0xFF], [0x0A], [0x0D, 0x0A],
                Array("ends in newline\n".utf8), [0xEF, 0xBB, 0xBF, 65], [0xC3, 0x28], [0xED, 0xA0, 0x80],
            ]
            let key = try context.key("binary")
            for (number, secret) in secrets.enumerated() {
                try await context.save(secret, key)
                try await context.expect(key, holds: secret, "for secret \(number)")
            }
        },
        ContractCase("each length around the powers of two is kept exactly") { context in
            let key = try context.key("lengths")
            for power in [16, 64, 256, 1024, 4096, 16384] {
                for count in [power - 1, power, power + 1] {
                    let secret = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ count) }
                    try await context.save(secret, key)
                    try await context.expect(key, holds: secret, "for \(count) bytes")
                }
            }
        },
        ContractCase("a secret of 1 MiB is kept") { context in
            let maximum = context.store.capabilities.maximumSecretByteCount
            try context.expect(maximum >= 1 << 20, "the store takes \(maximum) bytes at most")
            let key = try context.key("large")
            let secret = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
            try await context.save(secret, key)
            try await context.expect(key, holds: secret)
            try await context.save("small", key)
            try await context.expect(key, holds: Array("small".utf8), "after a larger one")
        },
        ContractCase("a secret past the store's limit is refused as too large, and the old one stays") { context in
            let key = try context.key("too-large")
            let maximum = context.store.capabilities.maximumSecretByteCount
            try context.expect(maximum < 1 << 30, "the store has no limit, so a mistake can fill the disk")
            try await context.save("old", key)
            let secret = Secret<Password>(byteCount: maximum + 1) { _ in }
            try await context.expect(.tooLarge, from: "the save") { () async throws(StoreError) in
                try await context.store.save(secret, for: key, options: SaveOptions(), deadline: context.timeout)
            }
            try await context.expect(key, holds: Array("old".utf8))
        },
        ContractCase("nothing secret stands in a listing, a version or an error") { context in
            let canary = "canary-5f0c2e9a7b"
            let key = try context.key("ada")
            let version = try await context.save(canary, key)
            let entries = try await context.store.list(service: context.service, deadline: context.timeout).all()
            var shown = String(reflecting: entries)
            dump(entries, to: &shown)
            let conflict = try await context.expect(.conflict, from: "creating it again") {
                () async throws(StoreError) in
                try await context.save(canary + "2", key, options: SaveOptions(condition: .absent))
            }
            shown += "\(conflict) \(conflict.hint?.text ?? "")"
            dump(conflict, to: &shown)
            try context.expect(!shown.contains(canary), "the secret is in a listing or an error")
            let digits = version.bytes.map { UInt8($0) }
            try context.expect(
                !String(decoding: digits, as: UTF8.self).contains(canary), "the secret is in the version")
        },
    ]
}
