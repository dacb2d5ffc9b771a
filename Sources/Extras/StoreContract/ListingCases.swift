internal import LatchkeyCredentials

extension ContractCase {
    /// Listings.
    static let listing: [ContractCase] = [
        ContractCase("a listing gives every credential of a service once, however many, and one of all services too") {
            context in
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
            var found: [CredentialKey] = []
            for try await entry in context.store.list(deadline: context.timeout) where keys.contains(entry.key) {
                found.append(entry.key)
            }
            try context.expect(
                found.count == count && Set(found) == keys,
                "a listing of all services has \(found.count) entries, \(Set(found).count) different ones, of \(count)")
            let first = try await context.store.page(service: nil, after: nil, deadline: context.timeout)
            guard let cursor = first.next else { return }
            try await context.expect(.timedOut, from: "the second page") { () async throws(StoreError) in
                _ = try await context.store.page(service: nil, after: cursor, deadline: context.passed)
            }
            try await context.expectCancelled("the second page") { () async throws(StoreError) in
                _ = try await context.store.page(service: nil, after: cursor, deadline: context.timeout)
            }
        },
        ContractCase("a listing without a service gives those of every service") { context in
            var keys: Set<CredentialKey> = []
            for number in 0..<10 {
                // One ends with a space, which belongs to its name.
                let key = try context.key("ada", service: "\(context.service).\(number == 9 ? "9 " : "\(number)")")
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
        ContractCase("a credential that exists throughout a listing is listed once, while others come and go") {
            context in
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

extension ContractCase {
    /// Labels, content types, times and versions.
    static let describing: [ContractCase] = [
        ContractCase("a label is stored, read and listed; a save without a label keeps it") { context in
            let key = try context.key("ada")
            let label = "Ada's mail – 密码 🔑 caf\u{E9} cafe\u{301}"
            func isKept(_ seen: String?) -> Bool { seen.map { $0.utf8.elementsEqual(label.utf8) } ?? false }
            try await context.save("1", key, options: SaveOptions(label: label))
            let first = try await context.read(key)
            try context.expect(isKept(first?.metadata.label), "another label is read")
            try await context.save("2", key)
            let second = try await context.read(key)
            try context.expect(isKept(second?.metadata.label), "a save without a label changed it")
            try await context.save("3", key, options: SaveOptions(label: "another"))
            let listed = try await context.store.list(service: context.service, deadline: context.timeout).all()
            try context.expect(listed.map(\.label) == ["another"], "the listing has another label")
        },
        ContractCase("a credential saved without a label gets one") { context in
            let key = try context.key("ada")
            try await context.save("1", key)
            let seen = try await context.read(key)
            try context.expect(seen?.metadata.label.isEmpty == false, "the label is empty")
        },
        ContractCase("a content type is true of the bytes") { context in
            let text = try context.key("text")
            let binary = try context.key("binary")
            let utf8 = try context.key("utf8-as-binary")
            try await context.save("zażółć", text, options: SaveOptions(contentType: .text))
            try await context.save([0xFF, 0x00, 0xFE], binary, options: SaveOptions(contentType: .binary))
            try await context.save("plain", utf8, options: SaveOptions(contentType: .binary))
            let changed = try context.key("changed")
            try await context.save("text", changed, options: SaveOptions(contentType: .text))
            try await context.save([0xFF], changed, options: SaveOptions(contentType: .binary))
            let types = [
                try await context.read(text)?.contentType, try await context.read(binary)?.contentType,
                try await context.read(utf8)?.contentType, try await context.read(changed)?.contentType,
            ]
            try context.expect(types[1] == .binary && types[3] == .binary, "bytes that are no UTF-8 are called text")
            guard context.store.capabilities.keepsContentType else { return }
            try context.expect(types[0] == .text, "text is called bytes")
            try context.expect(types[2] == .binary, "bytes are called text")
        },
        ContractCase("the creation time stays; the change time is that of the last save") { context in
            let key = try context.key("ada")
            try await context.save("1", key)
            let first = try await context.read(key)
            // A store may keep whole seconds.
            try await Task.sleep(for: .milliseconds(1100))
            try await context.save("2", key)
            let second = try await context.read(key)
            guard let first, let second else { throw ContractViolation("no credential is there") }
            try context.expect(first.metadata.created.seconds > 1_700_000_000, "the time of creation is not set")
            try context.expect(first.metadata.created == second.metadata.created, "the time of creation changed")
            for seen in [first, second] {
                try context.expect(seen.metadata.modified >= seen.metadata.created, "it was changed before it was made")
            }
            try context.expect(second.metadata.modified > first.metadata.modified, "the time of change stayed")
            let entries = try await context.store.list(service: context.service, deadline: context.timeout).all()
            let isSame = entries.first.map {
                $0.created == second.metadata.created && $0.modified == second.metadata.modified
            }
            try context.expect(isSame == true, "other times are listed than read")
        },
        ContractCase("each read of a state returns the version that the save returned") { context in
            let key = try context.key("ada")
            let saved = try await context.save("1", key)
            try context.expect((16...64).contains(saved.bytes.count), "a version has \(saved.bytes.count) bytes")
            for _ in 0..<3 {
                let seen = try await context.read(key)
                try context.expect(seen?.version == saved, "a read gives another version than the save")
            }
            try await context.save("other", try context.key("bob"))
            let seen = try await context.read(key)
            try context.expect(seen?.version == saved, "a save under another key changed the version")
            let listed = try await context.store.list(service: context.service, deadline: context.timeout).all()
            let entry = listed.first { $0.key == key }
            if context.store.capabilities.hasVersionsInListing {
                try context.expect(entry?.version == saved, "the listing gives another version, or none")
            } else {
                try context.expect(entry?.version == nil, "the listing gives a version, although it says it can't")
            }
        },
        ContractCase("a version differs after each change of the secret or the label") { context in
            let key = try context.key("ada")
            var versions: [CredentialVersion] = []
            for text in ["1", "2", "", "22", "2222222222222222222222222222222222"] {
                versions.append(try await context.save(text, key))
            }
            // Elsewhere a version may be that of the state, which is back.
            if context.store.capabilities.hasAtomicConditions { versions.append(try await context.save("1", key)) }
            versions.append(
                try await context.save(
                    "2222222222222222222222222222222222", key, options: SaveOptions(label: "a new label")))
            try context.expect(Set(versions).count == versions.count, "two states have the same version")
        },
        ContractCase("versions don't show that two credentials have the same secret") { context in
            let first = try await context.save("same", try context.key("ada"), options: SaveOptions(label: "label"))
            let second = try await context.save("same", try context.key("bob"), options: SaveOptions(label: "label"))
            try context.expect(first != second, "both have the same version")
        },
    ]
}

extension ContractCase {
    /// Changes, and the reply of a store that can't report them.
    static let reporting: [ContractCase] = [
        ContractCase("saves and deletes are reported, or the store says that it can't") { context in
            guard context.store.capabilities.reportsChanges else {
                try await context.expect(.unsupported, from: "asking for changes") { () async throws(StoreError) in
                    _ = try await context.store.changes(deadline: context.timeout)
                }
                return
            }
            let key = try context.key("ada")
            let changes = try await context.store.changes(deadline: context.timeout)
            let writer = context.store.capabilities.isPersistent ? try await context.open() : context.store
            for (kind, step) in [(CredentialChange.Kind.saved, 1), (.saved, 2), (.deleted, 3)] {
                if kind == .saved {
                    try await context.save([UInt8(step)], key, in: writer)
                } else {
                    try await writer.delete(key, condition: .none, deadline: context.timeout)
                }
                try await context.expect(kind, of: key, in: changes, step: step)
            }
        },
        ContractCase("every listener hears of a change") { context in
            guard context.store.capabilities.reportsChanges else { return }
            let key = try context.key("ada")
            let first = try await context.store.changes(deadline: context.timeout)
            let second = try await context.store.changes(deadline: context.timeout)
            try await context.save("1", key)
            try await context.expect(.saved, of: key, in: first, step: 1)
            try await context.expect(.saved, of: key, in: second, step: 1)
        },
        ContractCase("a store that can't be locked says so") { context in
            // A store that can is tried by its own tests: here the lock would shut the others out.
            guard !context.store.capabilities.canLock else { return }
            try await context.expect(.unsupported, from: "locking") { () async throws(StoreError) in
                try await context.store.lock(deadline: context.timeout)
            }
            try await context.expect(.unsupported, from: "unlocking") { () async throws(StoreError) in
                try await context.store.unlock(deadline: context.timeout)
            }
        },
    ]
}

extension ContractContext {
    /// Waits for this change, or for word that anything may have changed.
    fileprivate func expect(
        _ kind: CredentialChange.Kind, of key: CredentialKey, in changes: AsyncStream<CredentialChange>, step: Int
    ) async throws {
        let heard = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await change in changes
                where (change.key == key || change.key == nil) && (change.kind == kind || change.kind == .unknown) {
                    return true
                }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(30))
                return false
            }
            let heard = await group.next() ?? false
            group.cancelAll()
            return heard
        }
        try expect(heard, "change \(step) was not reported")
    }
}
