#if DEBUG || Testable || Fuzzing
    import LatchkeyCredentials
    import Glibc
    import LatchkeySecrets
    @testable import LatchkeyVault

    /// A whole file, as somebody left it who could write it and its journal, but had no key: everything that a store
    /// does with a vault, one thing after the other.
    ///
    /// The input: flags (1); with flag 1 the pages get the checksums that belong to them, so that what is inside is
    /// looked at; with flag 2 a journal comes next, its length (2) before it; with flag 4 the items aren't compared
    /// with the manifest. The rest is the vault's file.
    struct VaultFileCheck: Sendable {
        let folder: String
        private var path: String { folder + "/vault" }

        private static let deadline = Duration.seconds(20)
        /// More than any input can hold.
        private static let maximumItemCount = 10_000

        init(folder: String) {
            self.folder = folder
        }

        typealias Violation = VaultCheck.Violation

        /// Whether the file could be read.
        func run(_ input: [UInt8]) async throws(Violation) -> Bool {
            var reader = ByteReader(input)
            guard let flags: UInt8 = reader.integer() else { return false }
            var journal: [UInt8] = []
            if flags & 2 != 0, let length: UInt16 = reader.integer() {
                journal = reader.take(min(Int(length), reader.remainingByteCount)) ?? []
            }
            // Another file of that name is refused before SQLite sees it.
            let start: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
            if journal.count < start.count {
                journal = []
            } else if journal.prefix(start.count).contains(where: { $0 != 0 }) {
                journal.replaceSubrange(..<start.count, with: start)
            }
            var file = reader.take(reader.remainingByteCount) ?? []
            if flags & 1 != 0 { Self.sealPages(&file) }
            write(file, to: path)
            if journal.isEmpty { unsafe unlink(path + "-journal") } else { write(journal, to: path + "-journal") }
            let isReadable = try await look(flags & 4 == 0 ? .whenSmall : .never)
            // Rolling back a journal changes the file, and nothing else that only looks.
            guard !journal.isEmpty || contents() == file else { throw Violation("looking changed the file") }
            try await change()
            return isReadable
        }

        static func sealPages(_ file: inout [UInt8]) {
            let size = PageSealedFiles.pageByteCount
            file += [UInt8](repeating: 0, count: (size - file.count % size) % size)
            for number in 0..<file.count / size {
                var page = Array(file[number * size..<(number + 1) * size])
                var span = page.mutableSpan
                PageSealedFiles.seal(page: number + 1, &span)
                file.replaceSubrange(number * size..<(number + 1) * size, with: page)
            }
        }

        // MARK: - Looking

        private func open(_ itemCheck: ItemCheck) throws(StoreError) -> VaultStore {
            let place = try VaultPath.existing(path)
            let opened = Result { () throws(StoreError) in
                let table = try SQLiteRowTable(path: place.file)
                try table.read(Cancellation(.standard)) { (view) throws(StoreError) in
                    _ = try IdentityRecord.decode(view.record(IdentityRecord.recordName))
                    _ = try KeySlot.all(in: view.records())
                }
                return table
            }
            // As LockedVault does.
            if case .failure(let error) = opened, error.code == .permissionDenied {
                try place.status().requireVaultLength()
            }
            let table = try opened.get()
            return try VaultStore(
                table: table, keys: KnownVault.shared.keys,
                slot: .init(
                    recordName: KeySlot.recordName([UInt8](repeating: 1, count: 16)), keys: KnownVault.shared.slotKeys),
                itemCheck: itemCheck, now: { UnixTime(seconds: 9) })
        }

        private func look(_ itemCheck: ItemCheck) async throws(Violation) -> Bool {
            guard let store = try await attempt({ () async throws(StoreError) in try open(itemCheck) }) else {
                return false
            }
            for item in KnownVault.items {
                let text = try await attempt { () async throws(StoreError) -> [UInt8]? in
                    try await Self.text(item.key, in: store)
                }
                guard case .some(let text) = text else { continue }
                if let text, text != Array(item.text.utf8) { throw Violation("a wrong secret") }
                // All that was saved last is there, where the items were compared with the manifest.
                if text == nil, itemCheck != .never { throw Violation("an item was taken away") }
            }
            try await list(store)
            try await search(store, isCompared: itemCheck != .never)
            try await copy(store)
            _ = try await attempt { () async throws(StoreError) in
                try await store.slots(deadline: .after(Self.deadline))
            }
            let report = try await attempt { () async throws(StoreError) in
                try await store.verify(deadline: .after(Self.deadline))
            }
            if let report, report.isSound, report.itemCount > KnownVault.items.count {
                throw Violation("a forged item")
            }
            return report?.isSound == true
        }

        private static func text(
            _ key: CredentialKey, in store: VaultStore
        ) async throws(StoreError) -> [UInt8]? {
            guard let found = try await store.find(key, deadline: .after(deadline)) else { return nil }
            return KnownVault.bytes(found.secret)
        }

        private func list(_ store: VaultStore) async throws(Violation) {
            var cursor: ListingCursor?
            for _ in 0..<Self.maximumItemCount {
                let after = cursor
                let page = try await attempt { () async throws(StoreError) in
                    try await store.page(service: nil, after: after, deadline: .after(Self.deadline))
                }
                guard let page else { return }
                guard page.entries.allSatisfy({ entry in KnownVault.items.contains { $0.key == entry.key } }) else {
                    throw Violation("a listing shows what was never saved")
                }
                guard let next = page.next else { return }
                cursor = next
            }
            throw Violation("a listing never ends")
        }

        private func search(_ store: VaultStore, isCompared: Bool) async throws(Violation) {
            let items = store
            for known in KnownVault.items {
                let found = try await attempt { () async throws(StoreError) in
                    try await items.search(ItemAttributes(known.key), in: nil, deadline: .after(Self.deadline))
                }
                guard let found else { continue }
                guard found.allSatisfy({ $0.attributes == ItemAttributes(known.key) }), found.count <= 1 else {
                    throw Violation("a search finds something else")
                }
                if isCompared && found.isEmpty { throw Violation("a search misses an item") }
            }
            let service = [ItemAttributes.Attribute(name: "service", value: "example.org")]
            guard let attributes = ItemAttributes(service) else { return }
            let all = try await attempt { () async throws(StoreError) in
                try await items.search(attributes, in: nil, deadline: .after(Self.deadline))
            }
            if let all, all.count > KnownVault.items.count || isCompared && all.count < KnownVault.items.count {
                throw Violation("a search of all finds \(all.count)")
            }
        }

        /// As export and import read everything.
        private func copy(_ store: VaultStore) async throws(Violation) {
            var wrong: String?
            var count = 0
            let copied: Bool? = try await attempt { () async throws(StoreError) in
                let copy = VaultCopy(vault: store, cancellation: Cancellation(.after(Self.deadline)))
                try copy.forEachItem { (metadata, secret) throws(StoreError) in
                    count += 1
                    let text = KnownVault.items.first { $0.key == metadata.key }?.text
                    if text.map({ Array($0.utf8) }) != KnownVault.bytes(secret) { wrong = "a copy of a wrong secret" }
                    if count > Self.maximumItemCount { wrong = "a copy never ends" }
                    if wrong != nil { throw .damagedItem }
                }
                return true
            }
            if let wrong { throw Violation(wrong) }
            if copied == true, count > KnownVault.items.count { throw Violation("a copy has forged items") }
        }

        // MARK: - Changing

        private func change() async throws(Violation) {
            guard let store = try await attempt({ () async throws(StoreError) in try open(.never) }) else { return }
            let saved: Bool? = try await attempt { () async throws(StoreError) in
                let secret: Secret<Password> = KnownVault.secret(Array("gamma".utf8))
                _ = try await store.save(
                    secret, for: KnownVault.otherKey, options: SaveOptions(), deadline: .after(Self.deadline))
                return true
            }
            guard saved == true else { return }
            let text = try await attempt { () async throws(StoreError) -> [UInt8]? in
                try await Self.text(KnownVault.otherKey, in: store)
            }
            if case .some(let text) = text, text != Array("gamma".utf8) { throw Violation("a save is not there") }
            _ = try await attempt { () async throws(StoreError) in
                try await store.delete(KnownVault.otherKey, condition: .none, deadline: .after(Self.deadline))
            }
        }

        // MARK: - Parts

        private static let codes: Set<StoreError.Code> = [.corrupted, .unsupported, .rolledBack, .wrongKey]

        /// What `body` returns, or `nil` when it refuses the file for what is in it. Any other error is a fault of
        /// ours.
        private func attempt<Result>(
            _ body: () async throws(StoreError) -> Result
        ) async throws(Violation) -> Result? {
            do throws(StoreError) {
                return try await body()
            } catch {
                guard Self.codes.contains(error.code) else { throw Violation("\(error)") }
                return nil
            }
        }

        private func write(_ bytes: [UInt8], to path: String) {
            let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(0o600))
            precondition(descriptor >= 0, "the folder can't be written")
            let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
            close(descriptor)
            precondition(count == bytes.count, "the folder is full")
        }

        private func contents() -> [UInt8] {
            let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
            precondition(descriptor >= 0, "the vault is gone")
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
            let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
            precondition(count == bytes.count, "the vault can't be read")
            return bytes
        }
    }
#endif
