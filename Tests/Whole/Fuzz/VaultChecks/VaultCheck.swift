#if DEBUG || Testable || Fuzzing
    import LatchkeyCredentials
    import LatchkeyCredentials
    import LatchkeySecrets
    import LatchkeySystem
    @testable import LatchkeyVault

    /// What must hold of bytes that nobody vouches for, for each place where a vault reads some.
    ///
    /// libFuzzer runs these (Tests/Whole/Fuzz/Vault), and the ordinary tests do on the kept corpus and on mutations of it.
    /// What is sealed is given as the plaintext of somebody who has the key: no fuzzer finds its way through a cipher.
    public enum VaultCheck: String, CaseIterable, Sendable {
        /// A key slot's record.
        case slot
        /// A key slot's note.
        case note
        /// An item's metadata.
        case metadata
        /// A link of the index.
        case link
        /// The record of collections.
        case collections
        /// An item's secret with its padding: the length that the metadata says (4 bytes), then what was sealed.
        case secret
        /// The record with the former keys.
        case former
        case manifest
        /// What is remembered of a vault, its plaintext or the file as it is.
        case memory
        /// A listing's cursor.
        case cursor
        /// A whole vault or export, with its journal: flags (1), then the files; see `VaultFileCheck`.
        case file

        /// Something that must hold doesn't.
        public struct Violation: Error, CustomStringConvertible {
            public let description: String

            init(_ description: String) { self.description = description }
        }

        /// Whether the input was accepted.
        ///
        /// - Parameter folder: a private one for `file`, on a file system in memory where there is one.
        public func run(_ input: [UInt8], in folder: String) async throws(Violation) -> Bool {
            switch self {
            case .slot: try Self.slot(input)
            case .note: try Self.note(input)
            case .metadata: try Self.metadata(input)
            case .link: try Self.link(input)
            case .collections: try Self.collections(input)
            case .secret: try Self.secret(input)
            case .former: try Self.former(input)
            case .manifest: try Self.manifest(input)
            case .memory: try Self.memory(input)
            case .cursor: try Self.cursor(input)
            case .file: try await VaultFileCheck(folder: folder).run(input)
            }
        }

        // MARK: - Records

        private static func slot(_ input: [UInt8]) throws(Violation) -> Bool {
            // The name repeats the id, which stands after layout and kind.
            let name = KeySlot.recordPrefix + Hexadecimal.encode(Array(input.dropFirst(2).prefix(16)))
            let record = NamedRecord(name: name, content: input)
            let slot = try accepted { () throws(StoreError) in try KeySlot.decode(record) }
            guard case .some(.some(let slot)) = slot else { return false }
            guard slot.encode() == record else { throw Violation("a slot has two forms") }
            if let cost = slot.cost, cost.passes > 16 || cost.memoryByteCount > 1 << 30 {
                throw Violation("a slot may ask for too much work")
            }
            if let name = slot.head.systemCredential?.text, name.contains("/") || name.hasPrefix(".") && name.count < 3
            {
                let isHidden = name != "." && name != ".." && !name.contains("/")
                guard isHidden else { throw Violation("a credential's name leaves its folder") }
            }
            return true
        }

        private static func note(_ input: [UInt8]) throws(Violation) -> Bool {
            let vault = KnownVault.shared
            guard
                let found = try accepted({ () throws(StoreError) in try vault.slot(note: input).describe(vault.keys) })
            else {
                return false
            }
            guard (1...64).contains(found.name.text.utf8.count) else { throw Violation("a name has a wrong length") }
            return true
        }

        private static func former(_ input: [UInt8]) throws(Violation) -> Bool {
            let vault = KnownVault.shared
            let record = vault.seal(input, FormerKeys.associatedData(vault.keys.vault), vault.keys.former)
            guard let keys = try accepted({ () throws(StoreError) in try FormerKeys.open(record, vault.keys) })
            else { return false }
            var count = 0
            _ = keys.first { (_) -> Bool? in
                count += 1
                return nil
            }
            guard count <= FormerKeys.capacity else { throw Violation("\(count) former keys") }
            return true
        }

        private static func manifest(_ input: [UInt8]) throws(Violation) -> Bool {
            let vault = KnownVault.shared
            let record = vault.seal(input, Manifest.context(vault.keys.vault), vault.keys.manifest)
            guard
                let manifest = try accepted({ () throws(StoreError) in try Manifest.open(record, vault.keys) })
            else { return false }
            guard manifest.encode() == input else { throw Violation("a manifest has two forms") }
            return true
        }

        private static func memory(_ input: [UInt8]) throws(Violation) -> Bool {
            let vault = KnownVault.shared
            guard GenerationMark.open(input, vault.keys, FormerKeys()) == nil else {
                throw Violation("a memory was forged")
            }
            guard let mark = GenerationMark.decode(input) else { return false }
            guard let sealed = try? mark.seal(vault.keys),
                GenerationMark.open(sealed, vault.keys, FormerKeys())?.mark == mark
            else { throw Violation("a memory changes on the way") }
            return true
        }

        // MARK: - Items

        private static func metadata(_ input: [UInt8]) throws(Violation) -> Bool {
            guard let metadata = Row.decode(input) else { return false }
            guard metadata.encode() == input else { throw Violation("metadata has two forms") }
            if let key = metadata.key, Row.decode(input, expected: key)?.label != metadata.label {
                throw Violation("metadata is read differently when its key is known")
            }
            guard
                Row.decode(input, expected: KnownVault.otherKey) == nil || metadata.key == KnownVault.otherKey
            else { throw Violation("metadata is taken for another item's") }
            let item = metadata.item(at: KnownVault.shared.keys.lookup(of: metadata.name))
            guard (item == nil) == (metadata.key.map { $0.kind != .password } ?? false) else {
                throw Violation("what is no item is served, or an item isn't")
            }
            guard Row.collection(in: input) == metadata.collection else {
                throw Violation("a collection is read differently by itself")
            }
            if let item, item.attributes.all.count > 64 || item.contentType.utf8.count > 255 {
                throw Violation("an item is larger than it may be")
            }
            return true
        }

        private static func link(_ input: [UInt8]) throws(Violation) -> Bool {
            guard let link = IndexLink.decode(input) else { return false }
            let keys = KnownVault.shared.keys
            let token = IndexToken([5])
            let sealed = try accepted { () throws(StoreError) in try link.seal(at: token, keys) }
            guard let sealed, IndexLink.open(sealed, at: token, keys) == link,
                IndexLink.open(sealed, at: IndexToken([6]), keys) == nil
            else { throw Violation("a link changes on the way") }
            guard link.item.bytes + link.next.bytes + link.previous.bytes == input else {
                throw Violation("a link has two forms")
            }
            return true
        }

        private static func collections(_ input: [UInt8]) throws(Violation) -> Bool {
            guard let collections = CollectionsRecord.decode(input) else { return false }
            guard collections.encode() == input else { throw Violation("collections have two forms") }
            let aliases = collections.all.flatMap(\.aliases)
            guard Set(aliases).count == aliases.count, collections.contains(ItemCollection.first),
                collections.all.count <= CollectionsRecord.maximumCount
            else { throw Violation("collections are ambiguous or too many") }
            return true
        }

        private static func secret(_ input: [UInt8]) throws(Violation) -> Bool {
            var reader = ByteReader(input)
            guard let count: UInt32 = reader.integer(), let plaintext = reader.take(reader.remainingByteCount) else {
                return false
            }
            let vault = KnownVault.shared
            let metadata = KnownVault.metadata(KnownVault.otherKey, secretByteCount: Int(count % (1 << 20)))
            let lookup = vault.keys.lookup(of: metadata.name)
            let sealed = vault.seal(
                plaintext, vault.keys.secretContext(lookup, metadata.version), vault.keys.secret)
            let opened = try accepted { () throws(StoreError) in
                KnownVault.bytes(try vault.keys.openSecret(sealed.span, of: metadata, at: lookup))
            }
            guard let opened else { return false }
            let expected = Array(plaintext.prefix(metadata.secretByteCount))
            guard opened == expected, opened.count == metadata.secretByteCount,
                plaintext.count == SealedSize.bucket(opened.count),
                plaintext.dropFirst(opened.count).allSatisfy({ $0 == 0 })
            else { throw Violation("something hides in the padding") }
            return true
        }

        private static func cursor(_ input: [UInt8]) throws(Violation) -> Bool {
            do throws(StoreError) {
                let place = try ListingCursor(bytes: input).place(under: KnownVault.shared.keys)
                return place != nil
            } catch {
                guard error.code == .unsupported else { throw Violation("\(error)") }
                return false
            }
        }

        /// What `body` returns, or `nil` when it finds damage; nothing else may go wrong.
        private static func accepted<Result>(_ body: () throws(StoreError) -> Result) throws(Violation) -> Result? {
            do throws(StoreError) {
                return try body()
            } catch {
                guard error.code == .corrupted else { throw Violation("\(error)") }
                return nil
            }
        }
    }
#endif
