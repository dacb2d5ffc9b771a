internal import LatchkeyCredentials

extension ContractCase {
    /// Labels, content types, times and versions.
    static let describing: [ContractCase] = [
        ContractCase("a label is kept, read and listed, and stays when none is given") { context in
            let key = try context.key("ada")
            let label = "Ada's mail – 密码 🔑"
            try await context.save("1", key, options: SaveOptions(label: label))
            let first = try await context.read(key)
            try context.expect(first?.metadata.label == label, "another label is read")
            try await context.save("2", key)
            let second = try await context.read(key)
            try context.expect(second?.metadata.label == label, "a save without a label changed it")
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
            let types = [
                try await context.read(text)?.contentType, try await context.read(binary)?.contentType,
                try await context.read(utf8)?.contentType,
            ]
            try context.expect(types[1] == .binary, "bytes that are no UTF-8 are called text")
            guard context.store.capabilities.keepsContentType else { return }
            try context.expect(types[0] == .text, "text is called bytes")
            try context.expect(types[2] == .binary, "bytes are called text")
        },
        ContractCase("the time of creation stays, and the time of change is never before it") { context in
            let key = try context.key("ada")
            try await context.save("1", key)
            let first = try await context.read(key)
            try await context.save("2", key)
            let second = try await context.read(key)
            guard let first, let second else { throw context.fail("no credential is there") }
            try context.expect(first.metadata.created.seconds > 1_700_000_000, "the time of creation is not set")
            try context.expect(first.metadata.created == second.metadata.created, "the time of creation changed")
            for seen in [first, second] {
                try context.expect(seen.metadata.modified >= seen.metadata.created, "it was changed before it was made")
            }
            try context.expect(second.metadata.modified >= first.metadata.modified, "the time of change went back")
        },
        ContractCase("a version is the same for each read of one state, and what the save returned") { context in
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
