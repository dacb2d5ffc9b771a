internal import LatchkeyCredentials

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
            for name in names { try await context.save(name, try context.key(name)) }
            for name in names {
                try await context.expect(try context.key(name), holds: Array(name.utf8))
            }
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
