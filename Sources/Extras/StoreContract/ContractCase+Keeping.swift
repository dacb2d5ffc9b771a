internal import LatchkeyCredentials
internal import LatchkeySecrets

extension ContractCase {
    /// Save, read, delete.
    static let keeping: [ContractCase] = [
        ContractCase("a credential that was never saved is absent, which is no error") { context in
            let key = try context.key("nobody")
            try await context.expectAbsent(key)
            let deleted = try await context.store.delete(key, condition: .none, deadline: context.timeout)
            try context.expect(!deleted, "deleting it said that it was there")
            let entries = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(entries.isEmpty, "the service lists \(entries.count) entries")
        },
        ContractCase("what was saved is read back, as often as it is asked for") { context in
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
        ContractCase("a delete removes one credential, and a second delete finds nothing") { context in
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
        ContractCase("kinds are kept apart") { context in
            let kinds: [CredentialKind] = [.password, .session, .privateKey, .clientSecret, .current]
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
                "\(left.count) kinds are left, not four")
        },
        ContractCase("a secret may be read for another purpose than it was saved for") { context in
            let key = try context.key("ada")
            let token = Secret<AccessToken>(copying: Array("token".utf8).span)
            try await context.store.save(token, for: key, options: SaveOptions(), deadline: context.timeout)
            guard
                let record = try await context.store.read(key, as: RefreshToken.self, deadline: context.timeout)
            else { throw context.fail("it is absent") }
            let same = record.secret.matches(token)
            try context.expect(same, "it came back changed")
        },
        ContractCase("opening the same place again gives the same identity") { context in
            try context.expect(!context.store.identity.backend.isEmpty, "the backend has no name")
            guard context.store.capabilities.isPersistent else { return }
            let other = try await context.open()
            try context.expect(
                other.identity == context.store.identity,
                "\(other.identity) is not \(context.store.identity), so their leases don't exclude each other")
        },
    ]
}
