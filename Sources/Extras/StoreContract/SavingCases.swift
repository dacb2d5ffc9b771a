internal import LatchkeyCredentials
internal import LatchkeyLeakAudit
internal import LatchkeyLog

extension ContractCase {
    /// Save, read, delete.
    static let keeping: [ContractCase] = [
        ContractCase("a credential that was never saved is absent, without an error") { context in
            let key = try context.key("nobody")
            try await context.expectAbsent(key)
            let deleted = try await context.store.delete(key, condition: .none, deadline: context.timeout)
            try context.expect(!deleted, "deleting it said that it was there")
            let entries = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(entries.isEmpty, "the service lists \(entries.count) entries")
        },
        ContractCase("a saved secret reads back every time") { context in
            let key = try context.key("ada")
            try await context.save("correct horse", key)
            for _ in 0..<3 { try await context.expect(key, holds: Array("correct horse".utf8)) }
        },
        ContractCase("a second save replaces the first") { context in
            let key = try context.key("ada")
            try await context.save("a first secret that is long", key)
            try await context.save("second", key)
            try await context.expect(key, holds: Array("second".utf8))
            let entries = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(entries.map(\.key) == [key], "the service lists \(entries.count) entries, not one")
        },
        ContractCase("a delete removes one credential; a second delete finds nothing") { context in
            let key = try context.key("ada")
            let neighbour = try context.key("bob")
            try await context.save("1", key)
            try await context.save("2", neighbour)
            let first = try await context.store.delete(key, condition: .none, deadline: context.timeout)
            try context.expect(first, "the first delete said that nothing was there")
            try await context.expectAbsent(key)
            let second = try await context.store.delete(key, condition: .none, deadline: context.timeout)
            try context.expect(!second, "the second delete said that something was there")
            try await context.expect(neighbour, holds: Array("2".utf8))
        },
        ContractCase("what was deleted can be saved again") { context in
            let key = try context.key("ada")
            for round in 0..<3 {
                try await context.save([UInt8(round)], key, options: SaveOptions(condition: .absent))
                try await context.expect(key, holds: [UInt8(round)])
                try await context.store.delete(key, condition: .none, deadline: context.timeout)
                try await context.expectAbsent(key)
            }
        },
        ContractCase("kinds are separate") { context in
            let kinds: [CredentialKind] =
                [.password, .session, .privateKey, .clientSecret, .current]
                + [CredentialKind("a-program-s-own-2")].compactMap(\.self)
            for kind in kinds {
                try await context.save("a \(kind.name)", try context.key("ada", kind: kind))
            }
            for kind in kinds {
                try await context.expect(try context.key("ada", kind: kind), holds: Array("a \(kind.name)".utf8))
            }
            try await context.store.delete(
                try context.key("ada", kind: .session), condition: .none, deadline: context.timeout)
            try await context.expectAbsent(try context.key("ada", kind: .session))
            try await context.expect(try context.key("ada"), holds: Array("a password".utf8))
            let left = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(
                Set(left.map(\.key.kind)) == Set(kinds).subtracting([.session]),
                "\(left.count) kinds are left, not \(kinds.count - 1)")
        },
        ContractCase("a secret may be read for another purpose than it was saved for") { context in
            let key = try context.key("ada")
            let token = Secret<AccessToken>(copying: Array("token".utf8).span)
            try await context.store.save(token, for: key, options: SaveOptions(), deadline: context.timeout)
            guard
                let record = try await context.store.read(key, as: RefreshToken.self, deadline: context.timeout)
            else { throw ContractViolation("it is absent") }
            let same = record.secret.matches(token)
            try context.expect(same, "it came back changed")
        },
        ContractCase("opening the same place again gives the same identity") { context in
            try context.expect(!context.store.identity.backend.isEmpty, "the backend lacks a name")
            guard context.store.capabilities.isPersistent else { return }
            let other = try await context.open()
            try context.expect(
                other.identity == context.store.identity,
                "\(other.identity) is not \(context.store.identity), so their leases don't exclude each other")
        },
    ]
}

extension ContractCase {
    /// Secrets are any bytes.
    static let bytes: [ContractCase] = [
        ContractCase("an empty secret is stored; it isn't absence") { context in
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
        ContractCase("secrets of each length around the powers of two read back exactly") { context in
            let key = try context.key("lengths")
            for power in [16, 64, 256, 1024, 4096, 16384] {
                for count in [power - 1, power, power + 1] {
                    let secret = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ count) }
                    try await context.save(secret, key)
                    try await context.expect(key, holds: secret, "for \(count) bytes")
                }
            }
        },
        ContractCase("a secret of 1 MiB, or as large as the store takes, reads back") { context in
            let count = min(1 << 20, context.store.capabilities.maximumSecretByteCount)
            let key = try context.key("large")
            let secret = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
            try await context.save(secret, key)
            try await context.expect(key, holds: secret)
            try await context.save("small", key)
            try await context.expect(key, holds: Array("small".utf8), "after a larger one")
        },
        ContractCase("a secret above the store's limit is refused as too large; the old secret stays") { context in
            let key = try context.key("too-large")
            let maximum = context.store.capabilities.maximumSecretByteCount
            try context.expect(maximum < 1 << 30, "the store lacks a limit, so a mistake can fill the disk")
            try await context.save("old", key)
            let secret = Secret<Password>(byteCount: maximum + 1) { bytes in
                for (index, byte) in context.canary.utf8.enumerated() where index <= maximum { bytes[index] = byte }
            }
            try await context.expect(.tooLarge, from: "the save") { () async throws(StoreError) in
                try await context.store.save(secret, for: key, options: SaveOptions(), deadline: context.timeout)
            }
            try await context.expect(key, holds: Array("old".utf8))
        },
        ContractCase("listings, labels, versions and errors contain no part of a secret") { context in
            let key = try context.key("ada")
            let first = try await context.save(context.canary, key)
            let second = try await context.save(context.canary + " 2", key)
            for condition in [WriteCondition.absent, .matches(first)] {
                try await context.expect(.conflict, from: "a save") { () async throws(StoreError) in
                    try await context.save(context.canary + " 3", key, options: SaveOptions(condition: condition))
                }
                try await context.expect(.conflict, from: "a delete") { () async throws(StoreError) in
                    try await context.store.delete(key, condition: condition, deadline: context.timeout)
                }
            }
            for version in [first, second] { context.audit.capture(version.bytes, as: "a version") }
            guard let seen = try await context.read(key) else { throw ContractViolation("the credential is missing") }
            context.audit.capture(value: seen.metadata, as: "a record")
            let page = try await context.store.page(service: context.service, after: nil, deadline: context.timeout)
            context.audit.capture(value: page, as: "a page")
        },
    ]
}

extension ContractCase {
    /// Services and accounts.
    static let naming: [ContractCase] = [
        ContractCase("names may be any printable Unicode") { context in
            let names = [
                "zażółć gęślą jaźń", "пароль", "密码", "كلمة السر", "🔑👩‍👩‍👧‍👦", " leading and trailing ", "it's \"quoted\"",
                "100%_wild*card?", "a/b\\c:d;e=f&g", "../../etc/passwd", "--option", "$HOME `id`", "{\"json\":1}",
                "<tag>&amp;", "\u{200B}zero\u{FEFF}width", "\u{10FFFF}",
            ]
            for (number, name) in names.enumerated() {
                try await context.save([UInt8(number)], try context.key(name))
            }
            for (number, name) in names.enumerated() {
                try await context.expect(try context.key(name), holds: [UInt8(number)], "under name \(number)")
            }
            let listed = try await context.store.list(service: context.service, deadline: context.timeout).all()
            let expected = try names.map { try context.key($0) }
            try context.expect(
                listed.count == names.count && Set(listed.map(\.key)) == Set(expected),
                "\(listed.count) names are listed, or other ones than the \(names.count) saved")
        },
        ContractCase("two normal forms of the same text are two keys, in services and accounts") { context in
            let composed = "caf\u{E9}"
            let decomposed = "cafe\u{301}"
            try await context.save("composed", try context.key(composed))
            try await context.expectAbsent(try context.key(decomposed))
            try await context.save("decomposed", try context.key(decomposed))
            try await context.expect(try context.key(composed), holds: Array("composed".utf8))
            try await context.expect(try context.key(decomposed), holds: Array("decomposed".utf8))

            let services = [context.service + composed, context.service + decomposed]
            for service in services { try await context.save(service, try context.key("ada", service: service)) }
            for service in services {
                try await context.expect(try context.key("ada", service: service), holds: Array(service.utf8))
                let listed = try await context.store.list(service: service, deadline: context.timeout).all()
                try context.expect(
                    listed.map(\.key) == [try context.key("ada", service: service)],
                    "a service lists \(listed.count) entries, or the other form's")
            }
        },
        ContractCase("names that differ in case, in a prefix or in a space are different") { context in
            let names = ["ada", "Ada", "ADA", "ad", "ada ", " ada", "ada\u{A0}", "adа"]
            let services = [context.service, context.service.uppercased()]
            let keys = try names.flatMap { name in try services.map { try context.key(name, service: $0) } }
            for key in keys { try await context.save(key.service + key.account, key) }
            for key in keys { try await context.expect(key, holds: Array((key.service + key.account).utf8)) }
        },
        ContractCase("service and account are not run together") { context in
            let first = try context.key("c", service: context.service + "/b")
            let second = try context.key("b/c", service: context.service)
            try await context.save("first", first)
            try await context.save("second", second)
            try await context.expect(first, holds: Array("first".utf8))
            try await context.expect(second, holds: Array("second".utf8))
        },
        ContractCase("service and account may have their full length") { context in
            let maximum = CredentialKey.maximumByteCount
            let filler = String(repeating: "é", count: (maximum - context.service.utf8.count) / 2)
            let service = context.service + filler
            let accounts = ["x", "y"].map { $0 + String(repeating: "a", count: maximum - 1) }
            for account in accounts { try await context.save(account, try context.key(account, service: service)) }
            for account in accounts {
                try await context.expect(try context.key(account, service: service), holds: Array(account.utf8))
            }
            let listed = try await context.store.list(service: service, deadline: context.timeout).all()
            try context.expect(
                Set(listed.map(\.key.account)) == Set(accounts), "the listing has other names than were saved")
        },
    ]
}
