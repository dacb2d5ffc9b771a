internal import LatchkeyCredentials

extension ContractCase {
    /// Listings.
    static let listing: [ContractCase] = [
        ContractCase("a listing gives every credential of a service once, however many") { context in
            let count = context.times(300)
            var keys: Set<CredentialKey> = []
            for number in 0..<count {
                let key = try context.key("account \(number)")
                try await context.save("secret \(number)", key)
                keys.insert(key)
            }
            // Entry by entry: `all()` would hide what comes twice.
            var listed: [CredentialMetadata] = []
            for try await entry in context.store.list(service: context.service, deadline: context.timeout) {
                listed.append(entry)
            }
            try context.expect(
                listed.count == count && Set(listed.map(\.key)) == keys,
                "\(listed.count) entries are listed, \(Set(listed.map(\.key)).count) different ones, of \(count) saved")
            let again = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(again.map(\.key) == listed.map(\.key), "a second listing has another order")
        },
        ContractCase("a listing without a service gives those of every service") { context in
            var keys: Set<CredentialKey> = []
            for number in 0..<10 {
                let key = try context.key("ada", service: "\(context.service).\(number)")
                try await context.save([UInt8(number)], key)
                keys.insert(key)
            }
            let listed = try await context.store.list(deadline: context.timeout).all()
            let own = listed.map(\.key).filter { $0.service.hasPrefix(context.service) }
            try context.expect(
                own.count == 10 && Set(own) == keys, "\(own.count) of the ten credentials of ten services are listed")
        },
        ContractCase("a service's listing leaves out services with a longer, shorter or differently cased name") {
            context in
            let key = try context.key("ada")
            try await context.save("own", key)
            for service in [
                context.service + ".more", String(context.service.dropLast()), context.service.uppercased(),
                context.service + " ",
            ] {
                try await context.save("other", try context.key("ada", service: service))
            }
            let listed = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(listed.map(\.key) == [key], "\(listed.count) entries are listed, not the one")
        },
        ContractCase("what is there throughout a listing is listed once, while others come and go") { context in
            let count = context.times(200)
            for number in 0..<count { try await context.save([0], try context.key("stays \(number)")) }
            for number in 0..<20 { try await context.save([0], try context.key("goes \(number)")) }
            var seen: [String] = []
            var round = 0
            var iterator = context.store.list(service: context.service, deadline: context.timeout).makeAsyncIterator()
            while let entry = try await iterator.next() {
                seen.append(entry.key.account)
                if seen.count.isMultiple(of: 10), round < 20 {
                    try await context.store.delete(
                        try context.key("goes \(round)"), condition: .none, deadline: context.timeout)
                    try await context.save([0], try context.key("comes \(round)"))
                    round += 1
                }
            }
            try context.expect(Set(seen).count == seen.count, "an entry is listed twice")
            let stayed = Set(seen.filter { $0.hasPrefix("stays") })
            try context.expect(stayed.count == count, "\(count - stayed.count) of \(count) entries are left out")
        },
        ContractCase("a page's cursor goes on where the page ended") { context in
            for number in 0..<50 { try await context.save([UInt8(number)], try context.key("account \(number)")) }
            var keys: [CredentialKey] = []
            var cursor: ListingCursor?
            repeat {
                let page = try await context.store.page(
                    service: context.service, after: cursor, deadline: context.timeout)
                let again = try await context.store.page(
                    service: context.service, after: cursor, deadline: context.timeout)
                try context.expect(page.entries == again.entries, "the same cursor gives another page")
                try context.expect(
                    page.next == nil || page.next != cursor, "a page's next cursor is the page's own: it never ends")
                keys += page.entries.map(\.key)
                cursor = page.next
            } while cursor != nil
            try context.expect(keys.count == 50 && Set(keys).count == 50, "the pages give \(keys.count) entries of 50")
        },
    ]
}
