#if DEBUG || Testable || Fuzzing
    import LatchkeyCredentials
    import Glibc
    import LatchkeySecrets
    @testable import LatchkeyVault

    extension VaultCheck {
        /// Sound inputs: what the corpus begins with.
        public func samples(in folder: String) throws -> [[UInt8]] {
            let vault = KnownVault.shared
            switch self {
            case .slot:
                return [
                    try Self.passphraseSlot().encode().content,
                    try vault.slot(note: Self.soundNote).encode().content,
                ]
            case .note: return [Self.soundNote]
            case .metadata:
                return [
                    KnownVault.metadata(KnownVault.otherKey, secretByteCount: 5).encode(),
                    KnownVault.item(secretByteCount: 5).encode(),
                ]
            case .link:
                return [(1...48).map { UInt8($0) }, [UInt8](repeating: 0, count: 16) + (1...32).map { UInt8($0) }]
            case .collections:
                var collections = CollectionsRecord(created: UnixTime(seconds: 5))
                let first = collections.encode()
                _ = try collections.add(label: "My keys", alias: "default", named: nil, now: UnixTime(seconds: 6))
                return [first, collections.encode(), first.dropLast() + [1]]
            case .secret:
                return [5, 256, 300, 20_000].map { count in
                    var writer = ByteWriter()
                    writer.append(UInt32(count))
                    writer.append([UInt8](repeating: 0x78, count: count))
                    writer.pad(to: 4 + SealedSize.bucket(count))
                    return writer.bytes
                }
            case .former:
                return [0, 2, 16].map { count in
                    let keys = [UInt8](repeating: 7, count: count * 32)
                    return [1, UInt8(count)] + keys + [UInt8](repeating: 0, count: 512 - keys.count)
                }
            case .manifest:
                var manifest = Manifest(recordsDigest: [UInt8](repeating: 9, count: 32))
                let first = manifest.encode()
                for origin: UInt32 in [1, 2, 1] { manifest.advance(by: origin) }
                return [first, manifest.encode()]
            case .memory:
                let mark = [1, 5, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 9, count: 32)
                return [mark, mark + [7, 7, 7, 7, 4, 0, 0, 0, 0, 0, 0, 0]]
            case .cursor: return [vault.keys.id + [7, 0, 0, 0, 0, 0, 0, 0], [UInt8](repeating: 1, count: 24)]
            case .file:
                return [
                    [0] + (try Self.file(folder)), [1] + (try Self.outOfOrder(Self.file(folder))),
                    [3] + Self.cutOff(try Self.file(folder)),
                ]
            }
        }

        /// The vault with the items' rows in the wrong order, each pointing to the next.
        private static func outOfOrder(_ file: [UInt8]) -> [UInt8] {
            var file = file
            for page in stride(from: 4096, to: file.count, by: 4096) where file[page] == 13 && file[page + 4] == 2 {
                for byte in 8..<10 { file.swapAt(page + byte, page + byte + 2) }
            }
            return file
        }

        /// The vault as a process left it that was killed while it wrote the second page, with the journal before it
        /// that brings the page back (sqlite.org/fileformat2, section 3).
        private static func cutOff(_ file: [UInt8]) -> [UInt8] {
            func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
            let nonce = 0x0102_0304
            let page = Array(file[4096..<8192])
            var journal: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
            for field in [1, nonce, file.count / 4096, 512, 4096] { journal += number(field) }
            journal += [UInt8](repeating: 0, count: 512 - journal.count)
            let sum = stride(from: 4096 - 200, to: 0, by: -200).reduce(nonce) { $0 + Int(page[$1]) }
            journal += number(2) + page + number(sum)
            var torn = file
            torn.replaceSubrange(5000..<8192, with: [UInt8](repeating: 0xFF, count: 3192))
            return [UInt8(journal.count & 0xFF), UInt8(journal.count >> 8)] + journal + torn
        }

        private static var soundNote: [UInt8] {
            var writer = ByteWriter()
            writer.append(Int64(5))
            writer.append("key file", length: UInt8.self)
            writer.pad(to: 80)
            return writer.bytes
        }

        private static func passphraseSlot() throws(StoreError) -> KeySlot {
            let vault = KnownVault.shared
            return try NewKeySlot(
                .passphrase(KnownVault.secret(Array("p".utf8))), name: .passphrase,
                cost: PassphraseCost(memoryByteCount: 8 << 20, passes: 1), created: UnixTime(seconds: 5),
                vault: vault.keys.vault
            ).sealed(vault.keys)
        }

        /// A sound vault with the known items.
        private static func file(_ folder: String) throws -> [UInt8] {
            let keys = KnownVault.shared.keys
            let path = folder + "/sample"
            unsafe unlink(path)
            close(unsafe open(path, O_CREAT | O_RDWR, mode_t(0o600)))
            let records = [
                NamedRecord(name: IdentityRecord.recordName, content: IdentityRecord.encode(keys.vault)),
                try CollectionsRecord(created: UnixTime(seconds: 5)).seal(keys), try FormerKeys().seal(keys),
                try passphraseSlot().encode(),
                try KnownVault.shared.slot(note: Self.soundNote).encode(),
            ].sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            var change = Change(keys: keys, manifest: Manifest(recordsDigest: Manifest.digest(records, keys)))
            try SQLiteRowTable.create(path: path, records: records) { (table) throws(StoreError) in
                for item in KnownVault.items {
                    let secret: Secret<StoredSecret> = KnownVault.secret(Array(item.text.utf8))
                    try VaultStore.put(
                        KnownVault.metadata(item.key, secretByteCount: secret.byteCount), secret, in: table, &change)
                }
                try change.writeIndex(in: table)
                try table.put(record: Manifest.recordName, try change.manifest.seal(keys))
            }
            let descriptor = unsafe open(path, O_RDONLY)
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = unsafe read(descriptor, &bytes, bytes.count)
            return Array(bytes.prefix(count))
        }
    }
#endif
