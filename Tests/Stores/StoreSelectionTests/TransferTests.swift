internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyVault
internal import TestServices
internal import Testing

@Suite struct TransferTests {
    private let source: InMemoryStore
    private let target: InMemoryStore
    private let key: CredentialKey

    init() throws {
        source = try InMemoryStore()
        target = try InMemoryStore()
        key = try CredentialKey(service: "example.org", account: "ada")
    }

    private func transfer(_ mode: Transfer.Mode, replaces: Bool = false) -> Transfer {
        Transfer(from: source, to: target, mode: mode, replaces: replaces)
    }

    private func secret(_ text: String) -> Secret<Password> { Secret(copying: Array(text.utf8).span) }

    private func holds(_ store: InMemoryStore, _ text: String) async throws -> Bool {
        try await store.read(key, as: Password.self)?.secret.matches(secret(text)) ?? false
    }

    private func isEmpty(_ store: InMemoryStore) async throws -> Bool {
        try await store.read(key, as: Password.self) == nil
    }

    @Test func `a copy has the secret, the label and the type, and the source keeps its own`() async throws {
        try await source.save(
            secret("one"), for: key, options: SaveOptions(label: "A label", contentType: .text))
        #expect(try await transfer(.copy).transfer(key, deadline: .standard) == .copied)
        #expect(try await holds(source, "one"))
        #expect(try await holds(target, "one"))
        guard let record = try await target.read(key, as: Password.self) else { return }
        #expect(record.metadata.label == "A label")
        #expect(record.contentType == .text)
    }

    /// Of several credentials, helpers answer with the one that was changed last.
    @Test func `a copy keeps the times of the original, in a vault too`() async throws {
        var options = SaveOptions()
        options.original = CredentialMetadata(
            key: key, label: "", created: UnixTime(seconds: 1_000), modified: UnixTime(seconds: 2_000), version: nil)
        try await source.save(secret("one"), for: key, options: options, deadline: .standard)
        let directory = try TestDirectory()
        try VaultKeyFile.create(at: directory / "key")
        let vault = try await VaultStore.create(at: directory / "v/vault", unlockedBy: .keyFile(directory / "key"))
        for target in [target, vault] as [any CredentialStore] {
            _ = try await Transfer(from: source, to: target, mode: .copy).transfer(key, deadline: .standard)
            let copy = try await target.list(deadline: .standard).all().first
            #expect(copy?.created == UnixTime(seconds: 1_000) && copy?.modified == UnixTime(seconds: 2_000))
        }
    }

    @Test func `a move leaves nothing behind, and a second one finds nothing`() async throws {
        try await source.save(secret("one"), for: key)
        #expect(try await transfer(.move).transfer(key, deadline: .standard) == .moved)
        #expect(try await isEmpty(source))
        #expect(try await holds(target, "one"))
        #expect(try await transfer(.move).transfer(key, deadline: .standard) == .vanished)
    }

    @Test func `a move within one store is refused, and the only copy stays`() async throws {
        try await source.save(secret("one"), for: key)
        for _ in 0..<2 {
            await #expect { try await source.move(key, to: source) } throws: {
                ($0 as? StoreError)?.code == .unsupported
            }
        }
        #expect(try await holds(source, "one"))
        #expect(try await Transfer(from: source, to: source, mode: .copy).transfer(key, deadline: .standard) == .same)
    }

    @Test func `a move that was interrupted after its copy continues`() async throws {
        try await source.save(secret("one"), for: key)
        try await target.save(secret("one"), for: key)
        #expect(try await transfer(.move).transfer(key, deadline: .standard) == .same)
        #expect(try await isEmpty(source))
        #expect(try await holds(target, "one"))
    }

    @Test(arguments: [Transfer.Mode.copy, .move])
    func `another secret in the target is left alone until replacing is asked for`(
        _ mode: Transfer.Mode
    ) async throws {
        try await source.save(secret("one"), for: key)
        try await target.save(secret("two"), for: key)
        #expect(try await transfer(mode).transfer(key, deadline: .standard) == .differs)
        #expect(try await holds(source, "one"))
        #expect(try await holds(target, "two"))
        #expect(try await transfer(mode, replaces: true).transfer(key, deadline: .standard) == .replaced)
        #expect(try await holds(target, "one"))
        #expect(try await holds(source, "one") == (mode == .copy))
    }

    @Test func `a look predicts the same and changes nothing`() async throws {
        func look(_ mode: Transfer.Mode, replaces: Bool = false) async throws -> Transfer.Outcome {
            try await transfer(mode, replaces: replaces).transfer(key, onlyLooks: true, deadline: .standard)
        }
        #expect(try await look(.move) == .vanished)
        try await source.save(secret("one"), for: key)
        #expect(try await look(.move) == .moved)
        #expect(try await look(.copy) == .copied)
        #expect(try await isEmpty(target))
        try await target.save(secret("two"), for: key)
        #expect(try await look(.move) == .differs)
        #expect(try await look(.move, replaces: true) == .replaced)
        try await target.save(secret("one"), for: key)
        #expect(try await look(.move) == .same)
        #expect(try await holds(source, "one"))
    }

    /// The second of two imports ended in the middle.
    @Test(arguments: ["one", "two"]) func `a copy that another process made sooner counts`(_ theirs: String)
        async throws
    {
        try await source.save(secret("one"), for: key)
        let busy = ForgetfulStore(
            inner: target,
            beforeSaving: { [target, key] in
                try await target.save(Secret<Password>(copying: theirs.utf8.span), for: key)
            }, afterSaving: {})
        let transfer = Transfer(from: source, to: busy, mode: .copy)
        #expect(try await transfer.transfer(key, deadline: .standard) == (theirs == "one" ? .same : .differs))
        #expect(try await holds(target, theirs))
    }

    @Test func `a target that returns another secret costs nothing`() async throws {
        try await source.save(secret("one"), for: key)
        let forgetful = ForgetfulStore(inner: target)
        let transfer = Transfer(from: source, to: forgetful, mode: .move)
        await #expect(throws: StoreError.self) { try await transfer.transfer(key, deadline: .standard) }
        #expect(try await holds(source, "one"))
    }

    /// The older value stayed in the target, and the next attempt found two that differ.
    @Test(arguments: [false, true]) func `a copy is undone if its original was changed in between`(
        replacing: Bool
    ) async throws {
        try await source.save(secret("one"), for: key)
        if replacing { try await target.save(secret("before"), for: key, options: SaveOptions(label: "Before")) }
        let beside = ForgetfulStore(inner: target) { [source, key] in
            try await source.save(Secret<Password>(copying: Array("newer".utf8).span), for: key)
        }
        let transfer = Transfer(from: source, to: beside, mode: .move, replaces: true)
        let error = await #expect(throws: StoreError.self) { try await transfer.transfer(key, deadline: .standard) }
        #expect(error?.code == .conflict)
        #expect(try await holds(source, "newer"))
        #expect(try await replacing ? holds(target, "before") : isEmpty(target))
        if replacing, let record = try await target.read(key, as: Password.self) {
            #expect(record.metadata.label == "Before")
        }
    }

    @Test(arguments: [Transfer.Mode.copy, .move])
    func `items keep their collections and times, whatever the collections' names`(_ mode: Transfer.Mode) async throws {
        let other = try #require(ItemAttributes([ItemAttributes.Attribute(name: "a", value: "1")]))
        let times = (created: UnixTime(seconds: -5), modified: UnixTime(seconds: 7))
        for label in [
            String(repeating: "a", count: 64), "Wörk", "W__rk", "Wörk", String(repeating: "b", count: 65), "",
        ] {
            let made = try await source.createCollection(label: label, alias: nil, deadline: .standard)
            for text in ["one", "two"] {
                let place = ItemDraft.Place.attributes(other, in: made.name, replacing: false)
                var draft = ItemDraft(place, label: text, contentType: "text/plain")
                draft.times = times
                _ = try await source.save(secret(text), draft, deadline: .standard)
            }
        }
        let names = try await source.collections(deadline: .standard).map { [$0.name, $0.label] }
        // What is in the target's collection of this name goes on being there.
        _ = try await target.createCollection(label: "W__rk", alias: nil, deadline: .standard)
        for expected in [mode == .copy ? Transfer.Outcome.copied : .moved] + (mode == .copy ? [.same] : []) {
            var arrived: Set<ItemID> = []
            for item in try await transfer(mode).items(service: nil, account: nil, deadline: .standard) {
                let outcome = try await transfer(mode).transfer(
                    item, onlyLooks: false, arrived: &arrived, deadline: .standard)
                #expect(outcome == expected, "\(item.collection)")
            }
            #expect(arrived.count == 12)
        }
        let there = try await target.collections(deadline: .standard)
        #expect(there.map { [$0.name, $0.label] } == names.map { $0[0] == "w__rk" ? ["w__rk", "W__rk"] : $0 })
        for collection in there where collection.name != ItemCollection.first {
            let items = try await target.search(other, in: collection.name, deadline: .standard)
            #expect(Set(items.map(\.label)) == ["one", "two"], "\(collection.name)")
            #expect(items.allSatisfy { $0.created == times.created && $0.modified == times.modified })
        }
        #expect(try await source.search(other, in: nil, deadline: .standard).isEmpty == (mode == .move))
    }

    /// It was called corrupted, in a sound store.
    @Test func `a copy that others change before it is verified is a conflict, and keeps their change`() async throws {
        try await source.save(secret("one"), for: key)
        let beside = ForgetfulStore(inner: target) { [target, key] in
            try await target.save(Secret<Password>(copying: Array("theirs".utf8).span), for: key)
        }
        let transfer = Transfer(from: source, to: beside, mode: .move)
        let error = await #expect(throws: StoreError.self) { try await transfer.transfer(key, deadline: .standard) }
        #expect(error?.code == .conflict)
        #expect(try await holds(source, "one"))
        #expect(try await holds(target, "theirs"))
    }
}

/// Takes everything and keeps nothing of it, or keeps it and lets others do something before it says so.
private struct ForgetfulStore: CredentialStore {
    let inner: InMemoryStore
    var beforeSaving: (@Sendable () async throws -> Void)?
    var afterSaving: (@Sendable () async throws -> Void)?
    var identity: StoreIdentity { inner.identity }
    var capabilities: StoreCapabilities { inner.capabilities }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try? await beforeSaving?()
        guard let afterSaving else { return CredentialVersion(bytes: Array(repeating: 0, count: 16)) }
        let version = try await inner.save(secret, for: key, options: options, deadline: deadline)
        try? await afterSaving()
        return version
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try await inner.read(key, as: purpose, deadline: deadline)
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool { try await inner.delete(key, condition: condition, deadline: deadline) }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try await inner.page(service: service, after: cursor, deadline: deadline)
    }
}

/// What an adopter moves credentials with.
@Suite struct MoveTests {
    private let key: CredentialKey
    private let (old, new): (InMemoryStore, InMemoryStore)

    init() throws {
        key = try CredentialKey(service: "example.org", account: "ada")
        (old, new) = (try InMemoryStore(), try InMemoryStore())
    }

    private func secret(_ text: String) -> Secret<Password> { Secret(copying: Array(text.utf8).span) }

    @Test func `a moved credential is only in the other store`() async throws {
        #expect(try await !old.move(key, to: new))
        try await old.save(secret("s3cret"), for: key)
        #expect(try await old.move(key, to: new))
        let isGone = try await old.read(key, as: Password.self) == nil
        let moved = try await new.read(key, as: Password.self)?.secret.matches(Array("s3cret".utf8).span)
        #expect(isGone && moved == true)
    }

    @Test func `another secret in the other store is a conflict, and the same one is moved`() async throws {
        try await old.save(secret("one"), for: key)
        try await new.save(secret("two"), for: key)
        let error = await #expect(throws: StoreError.self) { _ = try await old.move(key, to: new) }
        #expect(error?.code == .conflict)
        #expect(try await old.read(key, as: Password.self)?.secret.matches(Array("one".utf8).span) == true)
        #expect(try await new.read(key, as: Password.self)?.secret.matches(Array("two".utf8).span) == true)
        try await new.save(secret("one"), for: key)
        #expect(try await old.move(key, to: new))
        #expect(try await old.read(key, as: Password.self)?.metadata == nil)
    }
}
